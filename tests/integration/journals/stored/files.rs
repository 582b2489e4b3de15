//! Journals in files.

use super::*;

/// A file that is deleted at the end of the test.
struct Path(PathBuf);

impl Path {
    fn new(name: &str) -> Path {
        let name = format!("agents-stored-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_file(&path);
        Path(path)
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

const KEY: &[u8; 24] = b"nobody else knows of it.";

async fn in_file(path: &Path, times: usize) -> (Ran, ModelAgent<'static, String, String>) {
    let ran = Ran::default();
    let agent = clerk(pay(&ran, spec(Effects::Writes)));
    let journal = FileJournal::open(&path.0, KEY).unwrap();
    agent
        .run("go")
        .model(model(pays(times)))
        .journal(journal)
        .await
        .unwrap();
    (ran, agent)
}

#[tokio::test]
async fn a_line_that_breaks_off_is_cut_off_and_reported() {
    let path = Path::new("torn");
    in_file(&path, 3).await;
    let whole = fs::read(&path.0).unwrap();
    let lines: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] == b'\n').collect();
    for end in [
        lines[1] + 1,
        lines[1] + 40,
        lines[2] - 1,
        lines[2] + 1,
        lines[3] + 9,
    ] {
        fs::write(&path.0, &whole[..end]).unwrap();
        let (ran, rest) = (Ran::default(), pays(3));
        let agent = clerk(pay(&ran, spec(Effects::Writes)));
        let journal = FileJournal::open(&path.0, KEY).unwrap();
        let kept = whole[..end]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .unwrap()
            + 1;
        assert_eq!(journal.cut(), (end - kept) as u64);
        let run = agent
            .run("go")
            .model(model(rest))
            .approver(yes)
            .journal(journal);
        run.await.unwrap();
        FileJournal::open(&path.0, KEY).expect("it is whole again");
    }
}

#[tokio::test]
async fn whatever_is_altered_removed_or_moved_is_refused_and_named() {
    let path = Path::new("altered");
    let (_, agent) = in_file(&path, 3).await;
    let whole = fs::read_to_string(&path.0).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let refused = |text: String, named: &str| {
        fs::write(&path.0, text).unwrap();
        let error = FileJournal::open(&path.0, KEY).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    };
    let sum = r#"\"sum\":2"#;
    let at = lines.iter().position(|line| line.contains(sum)).unwrap() + 1;
    let named = format!("line {at} was altered");
    refused(whole.replacen(sum, r#"\"sum\":9"#, 1), &named);
    refused(
        [lines[0], lines[2], lines[3]].concat(),
        "line 2 was altered, or lines before it are missing",
    );
    refused(
        [lines[0], lines[1], lines[3], lines[2]].concat(),
        "line 3 was altered",
    );
    refused(
        [lines[0], lines[1], lines[1], lines[2]].concat(),
        "line 3 was altered",
    );
    fs::write(&path.0, &whole).unwrap();
    let error = FileJournal::open(&path.0, b"another key, of somebody else").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("line 1 was altered, or the journal has another key")
    );
    let error = FileJournal::open(&path.0, Key::none()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the journal was written with a key; open it with that key")
    );
    // Without a key, anybody can write a matching digest; an entry that cannot follow is refused all the same.
    let journal = FileJournal::open(&path.0, KEY).unwrap();
    let mut entries = journal.entries();
    entries.remove(3);
    let run = agent.run("go").journal(MemoryJournal::of(entries));
    let error = run.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Journal);
    assert!(
        error.to_string().contains("entry 4 has the number 5"),
        "{error}"
    );
}

#[tokio::test]
async fn a_line_has_one_spelling() {
    let path = Path::new("spelling");
    in_file(&path, 1).await;
    let whole = fs::read_to_string(&path.0).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    assert!(lines.len() > 1, "{whole}");
    for at in 0..lines.len() {
        let line = lines[at];
        let inside = line.strip_suffix('}').unwrap();
        for other in [
            format!(r#"{inside},"approved":true}}"#),
            format!(r#"{{"note":"paid",{}"#, &line[1..]),
            format!("{line} "),
            format!(" {line}"),
            line.replacen(':', ": ", 1),
        ] {
            let mut changed: Vec<&str> = lines.clone();
            changed[at] = &other;
            fs::write(&path.0, changed.join("\n") + "\n").unwrap();
            let error = FileJournal::open(&path.0, KEY).unwrap_err().to_string();
            let named = format!("line {} was altered", at + 1);
            assert!(error.contains(&named), "{other}: {error}");
        }
    }
    fs::write(&path.0, &whole).unwrap();
    FileJournal::open(&path.0, KEY).unwrap();
}

#[tokio::test]
async fn one_process_at_a_time_has_a_journal() {
    let path = Path::new("in-use");
    let journal = FileJournal::open(&path.0, KEY).unwrap();
    let error = FileJournal::open(&path.0, KEY).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    assert!(error.to_string().contains("open already"));
    drop(journal);
    FileJournal::open(&path.0, KEY).unwrap();
}

#[test]
fn what_is_no_journal_is_called_by_its_name() {
    let path = Path::new("other");
    for (text, named) in [
        (
            r#"{"version":2,"agent":"a","run_id":"x","input":1,"root":{}}"#,
            "this is a snapshot, which earlier versions stored (format 2)",
        ),
        (
            "{\"tape\":{\"format\":5,\"run_id\":\"x\"}}\n",
            "this is a recording, which earlier versions wrote",
        ),
        (
            "{\"agents_journal\":9,\"keyed\":false,\"digest\":\"\"}\n",
            "the journal has format 9; this version reads format 1",
        ),
        ("Dear diary\n", "this is no journal"),
    ] {
        fs::write(&path.0, text).unwrap();
        let error = FileJournal::open(&path.0, Key::none()).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
        assert_eq!(
            fs::read_to_string(&path.0).unwrap(),
            text,
            "it is left alone"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_journal_is_readable_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let path = Path::new("private");
    FileJournal::open(&path.0, KEY).unwrap();
    let mode = fs::metadata(&path.0).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
