//! Two runs with one journal: one after the other, and at once.

use crate::world::{Plain, agent_with, spec};
use agents::{
    Agent, AgentBuilder, Effects, ErrorKind,
    journal::{Entry, FileJournal, Journal, Key, MemoryJournal},
    testing::{Script, ScriptedModel},
    tool::FnTool,
};
use std::{
    env, fs, io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

/// A path that is gone in the end.
struct Path(PathBuf);

impl Path {
    fn new(name: &str) -> Path {
        let name = format!("agents-shared-{}-{name}.jsonl", std::process::id());
        Path(env::temp_dir().join(name))
    }

    fn open(&self) -> Arc<FileJournal> {
        Arc::new(FileJournal::open(&self.0, Key::none()).unwrap())
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// An agent that pays once and counts that.
fn payer(pause: Duration, paid: &Arc<AtomicU32>) -> (Plain, ScriptedModel) {
    let count = paid.clone();
    let pay = FnTool::with_spec(spec("pay", Effects::Writes), move |_, _| {
        count.fetch_add(1, SeqCst);
        async move {
            tokio::time::sleep(pause).await;
            Ok::<_, io::Error>("paid")
        }
    });
    agent_with([pay], [Script::call("pay", "{}"), Script::text("done")])
}

/// Runs the payer twice with one handle, one run after the other.
async fn reused(journal: impl Journal + Clone) {
    let paid = Arc::default();
    let agents = [payer(Duration::ZERO, &paid), payer(Duration::ZERO, &paid)];
    for (agent, _) in &agents {
        let run = agent.run("go").journal(journal.clone());
        assert_eq!(run.await.unwrap(), "done");
    }
    assert_eq!(
        paid.load(SeqCst),
        1,
        "the second run returns what is stored"
    );
    let asked: Vec<_> = agents.iter().map(|(_, handle)| handle.count()).collect();
    assert_eq!(asked, [2, 0]);
    let other = agents[0].0.run("again").journal(journal).await;
    assert_eq!(
        other.unwrap_err().to_string(),
        "the journal belongs to a run with another input"
    );
    // Whoever is refused lets go of it a moment later.
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[tokio::test]
async fn a_file_that_is_used_again_returns_its_outcome() {
    let path = Path::new("reused");
    let journal = path.open();
    reused(journal.clone()).await;
    let entries = journal.entries();
    drop(journal);
    let again = path.open();
    assert_eq!(
        again.entries(),
        entries,
        "it holds what was written through the first handle"
    );
    assert!(entries.iter().any(|entry| entry.kind() == "finished"));
}

#[tokio::test]
async fn a_journal_in_memory_that_is_used_again_returns_its_outcome() {
    reused(MemoryJournal::new()).await;
}

/// Runs two payers at once with one handle; one of them is refused before it pays.
async fn at_once(journal: impl Journal + Clone) -> Vec<Entry> {
    let (paid, pause) = (Arc::default(), Duration::from_millis(20));
    let (first, _) = payer(pause, &paid);
    let (second, _) = payer(pause, &paid);
    let (one, two) = tokio::join!(
        first.run("go").journal(journal.clone()).outcome(),
        second.run("go").journal(journal.clone()).outcome(),
    );
    let results = [one.unwrap().result, two.unwrap().result];
    let failed: Vec<_> = results
        .iter()
        .filter_map(|one| one.as_ref().err())
        .collect();
    assert_eq!(failed.len(), 1, "{results:?}");
    assert_eq!(failed[0].kind(), ErrorKind::Journal);
    let why = failed[0].to_string();
    assert!(
        why.contains("another run writes to this journal") && why.contains("a journal of its own"),
        "{why}"
    );
    assert_eq!(paid.load(SeqCst), 1, "who is refused does not pay");
    journal.read().await.unwrap()
}

#[tokio::test]
async fn two_runs_at_once_do_not_share_a_file() {
    let path = Path::new("at-once");
    let entries = at_once(path.open()).await;
    // The run that went on has left a whole journal.
    assert_eq!(path.open().entries(), entries);
    let (agent, handle) = payer(Duration::ZERO, &Arc::default());
    assert_eq!(agent.run("go").journal(path.open()).await.unwrap(), "done");
    assert_eq!(handle.count(), 0);
}

#[tokio::test]
async fn two_runs_at_once_do_not_share_a_journal_in_memory() {
    let entries = at_once(MemoryJournal::new()).await;
    let (agent, handle) = payer(Duration::ZERO, &Arc::default());
    let again = agent.run("go").journal(MemoryJournal::of(entries));
    assert_eq!(again.await.unwrap(), "done");
    assert_eq!(handle.count(), 0);
}

#[tokio::test]
async fn a_batch_that_does_not_follow_is_refused_and_nothing_of_it_is_stored() {
    let whole = MemoryJournal::new();
    let (model, _) = ScriptedModel::new([Script::text("4")]);
    let adder = AgentBuilder::<String, u32>::new("adder")
        .model(model)
        .build();
    adder.run("2 + 2").journal(whole.clone()).await.unwrap();
    let entries = whole.entries();
    let path = Path::new("batches");
    let file = path.open();
    let memory = MemoryJournal::new();
    for journal in [&file as &dyn Journal, &memory] {
        journal.append(&entries[..2]).await.unwrap();
        let mut gap = entries[2..4].to_vec();
        gap.remove(0);
        let mut swapped = entries[2..4].to_vec();
        swapped.swap(0, 1);
        for odd in [&entries[..2], &entries[1..3], &gap, &swapped] {
            journal.append(odd).await.unwrap_err();
            assert_eq!(journal.read().await.unwrap(), entries[..2]);
        }
        let error = journal.append(&gap).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "entry 4 does not follow entry 2: another run writes to this journal; give each run a journal of its own"
        );
        journal.append(&entries[2..]).await.unwrap();
        assert_eq!(journal.read().await.unwrap(), entries);
    }
    drop(file);
    assert_eq!(path.open().entries(), entries);
}
