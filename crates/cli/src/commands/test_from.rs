//! `agents test from`: a Rust test that replays a run, and the journal of the run beside it.

use crate::{args::TestFromArgs, failure::Failure, out::Out, session::Session, wording};
use agents_dev::journal::{Entry, Recorded, written};
use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write},
    path::Path,
};

/// Maximum number of times that JSON text within JSON is escaped where a text is replaced.
const LEVELS: usize = 4;

pub(crate) async fn write(
    session: &Session,
    asked: &TestFromArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    session.run(&asked.run).await?;
    let client = session.with_keys()?;
    let recorded = client.recording(&asked.run, &session.who).await?;
    let entries = replaced(recorded.entries(), &asked.replace)?;
    let recorded = Recorded::of(entries).map_err(|error| wording::not_replaceable(&error))?;
    let name = match &asked.name {
        Some(name) if is_a_name(name) => name.clone(),
        Some(name) => return Err(wording::no_test_name(name)),
        None => name_of(recorded.agent(), &asked.run),
    };
    let path = match &asked.agent {
        Some(path) if path.contains("::") && path.split("::").all(is_a_name) => Some(path.as_str()),
        Some(path) => return Err(wording::no_agent_path(path)),
        None => None,
    };
    let journal = written(recorded.entries()).map_err(|error| wording::not_replaceable(&error))?;
    let test = wording::test(&name, path, &pascal(recorded.agent()), &recorded, asked);

    fs::create_dir_all(&asked.out).map_err(|error| wording::not_written(&asked.out, &error))?;
    let journal_file = asked.out.join(format!("{name}.journal"));
    let test_file = asked.out.join(format!("{name}.rs"));
    // Both or none.
    let is_there = [&journal_file, &test_file]
        .into_iter()
        .find(|file| !asked.force && file.exists());
    if let Some(file) = is_there {
        return Err(wording::is_there(file));
    }
    create(&journal_file, &journal, asked.force)?;
    create(&test_file, &test, asked.force)?;
    if out.is_json() {
        let files = [&journal_file, &test_file].map(|file| file.display().to_string());
        return out.object(&serde_json::json!({ "files": files }));
    }
    out.line(&test_file.display().to_string())?;
    out.line(&journal_file.display().to_string())?;
    out.line(wording::WHAT_IS_IN_THE_JOURNAL)
}

/// Writes a file. On Unix, a new file can be read by its owner alone, because nobody has looked yet at what the journal
/// holds.
fn create(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let mut how = OpenOptions::new();
    how.write(true);
    match force {
        true => how.create(true).truncate(true),
        false => how.create_new(true),
    };
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut how, 0o600);
    let written = how.open(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => wording::is_there(path),
        _ => wording::not_written(path, &error),
    })
}

/// Replaces texts in all facts, also in JSON text within JSON. A text that is in none of the facts is an error.
fn replaced(entries: &[Entry], replace: &[(String, String)]) -> Result<Vec<Entry>, Failure> {
    let mut left: Vec<_> = replace.iter().map(|(old, _)| old).collect();
    let mut all = Vec::with_capacity(entries.len());
    for entry in entries {
        let failed = |error: serde_json::Error| wording::not_replaceable(&error);
        let mut text = serde_json::to_string(entry).map_err(failed)?;
        for (old, new) in replace {
            let (mut from, mut to) = (old.clone(), new.clone());
            for _ in 0..LEVELS {
                (from, to) = (escaped(&from), escaped(&to));
                if text.contains(&from) {
                    left.retain(|one| *one != old);
                    text = text.replace(&from, &to);
                }
                // Text without escapes is the same on each level.
                if from == *old && to == *new {
                    break;
                }
            }
        }
        all.push(serde_json::from_str(&text).map_err(failed)?);
    }
    match left.first() {
        Some(old) => Err(wording::not_in_the_journal(old)),
        None => Ok(all),
    }
}

/// Returns the text as it stands within the quotes of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Words that are no names in Rust: the keywords of the edition 2024, those that are reserved included.
const KEYWORDS: [&str; 52] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Returns `true` if the text is a name of Rust, in ASCII.
fn is_a_name(name: &str) -> bool {
    let mut chars = name.chars();
    let begins = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let is_a_word = name != "_" && !KEYWORDS.contains(&name);
    begins && is_a_word && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the name of a test: that of the agent, and the end of the run's id, which differs more than its beginning.
fn name_of(agent: &str, run: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
        _ => '_',
    };
    let id: String = run.chars().filter(char::is_ascii_alphanumeric).collect();
    let id = &id[id.len().saturating_sub(8)..];
    let name: String = agent.chars().map(plain).collect();
    format!("replays_{name}_{id}")
}

/// Returns the name of the type that `#[agent]` makes of a function with the name of the agent.
fn pascal(agent: &str) -> String {
    let words = agent.split(|c: char| !c.is_ascii_alphanumeric());
    let capital = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(chars).collect::<String>()
    };
    let name: String = words.map(capital).collect();
    match is_a_name(&name) {
        true => name,
        false => format!("Agent{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names_of_rust() {
        assert_eq!(pascal("refund_clerk"), "RefundClerk");
        assert_eq!(pascal("7 dwarfs"), "Agent7Dwarfs");
        let run = "0199aa00-0000-7000-8000-0123456789ab";
        assert_eq!(
            name_of("Refund clerk/é", run),
            "replays_refund_clerk___456789ab"
        );
        for wrong in ["", "_", "1a", "a-b", "../a", "a b", "é", "a/b", "fn", "gen"] {
            assert!(!is_a_name(wrong), "{wrong}");
        }
    }

    #[test]
    fn text_is_escaped_as_json_has_it() {
        assert_eq!(escaped("a \"b\"\n"), "a \\\"b\\\"\\n");
        assert_eq!(escaped("ada@example.com"), "ada@example.com");
    }
}
