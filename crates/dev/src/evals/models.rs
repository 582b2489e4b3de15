//! Sources of the replies of a case: live models, which may be recorded, or recordings.

use super::wording;
use crate::{
    files,
    journal::{FileJournal, Key, recorded},
};
use agents_core::{Agent, Outcome, agent::Run};
use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// Source of the models' replies in an eval.
#[derive(Clone, Debug)]
pub(super) enum Models {
    /// The models of the run are asked.
    Live,
    /// The models of the run are asked, and their replies are stored in this folder.
    Record(PathBuf),
    /// No model is asked: the replies come from the recordings in this folder.
    Replay(PathBuf),
}

impl Models {
    /// Runs to the end, with replies from this source. `name` is that of the recording.
    pub(super) async fn outcome<A: Agent>(
        &self,
        run: Run<'_, A>,
        name: &str,
    ) -> Result<Outcome<A::Out>, String> {
        match self {
            Models::Live => run.outcome().await.map_err(failed),
            Models::Record(folder) => record(run, &file(folder, name)).await,
            Models::Replay(folder) => {
                let path = file(folder, name);
                let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
                    ErrorKind::NotFound => wording::not_recorded(&path),
                    _ => wording::in_file(&path, error),
                })?;
                let recorded =
                    recorded(&text, Key::none()).map_err(|error| wording::in_file(&path, error))?;
                let run = run.override_model(recorded.model());
                run.outcome().await.map_err(failed)
            }
        }
    }
}

/// Runs to the end and records the run in a file. An earlier recording stays until the run is over.
async fn record<A: Agent>(run: Run<'_, A>, path: &Path) -> Result<Outcome<A::Out>, String> {
    let part = path.with_extension("part");
    let told = |error: std::io::Error| error.to_string();
    if let Some(folder) = path.parent() {
        files::create_folder(folder).map_err(told)?;
    }
    match fs::remove_file(&part) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(wording::in_file(&part, error));
        }
        _ => {}
    }
    let journal = FileJournal::open(&part, Key::none()).map_err(told)?;
    let outcome = run.journal(journal).outcome().await.map_err(failed)?;
    fs::rename(&part, path).map_err(|error| wording::in_file(path, error))?;
    Ok(outcome)
}

fn failed(error: agents_core::Error) -> String {
    wording::failed(error.kind(), error)
}

/// Returns the path of the recording of this name. Characters other than letters, digits, `-`, `_` and `+` are written
/// as `%` and their number in hexadecimal.
fn file(folder: &Path, name: &str) -> PathBuf {
    let mut safe = String::new();
    for c in name.chars() {
        match c {
            c if c.is_alphanumeric() || matches!(c, '-' | '_' | '+') => safe.push(c),
            c => safe.push_str(&format!("%{:X}", u32::from(c))),
        }
    }
    folder.join(format!("{safe}.jsonl"))
}

#[cfg(test)]
mod tests {
    use super::file;
    use std::path::Path;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let folder = Path::new("recordings");
        for name in ["../../etc/passwd", "/etc", "..", ".", "a\\b", "a:b", "a\0b"] {
            let path = file(folder, name);
            assert_eq!(path.parent(), Some(folder), "{name}");
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(!name.contains(['/', '\\', ':', '\0']) && name.ends_with(".jsonl"));
        }
        assert_ne!(file(folder, "a b"), file(folder, "a-b"));
    }
}
