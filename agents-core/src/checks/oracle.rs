//! Record of the events and requests of runs in tests, to compare one version of the engine with another.
//!
//! With the variable `AGENTS_ORACLE`, every event of every run and every request to a model is written as a line of
//! JSON. The line goes into a file of the folder that the variable names; the file is named after the thread, which has
//! the name of the test:
//!
//! ```text
//! AGENTS_ORACLE=/tmp/before cargo test --test integration
//! cargo run -p typed-agents-core --example oracle -- /tmp/before /tmp/after
//! ```
//!
//! The lines are made from data that a run shows to any subscriber, so that the engine behind it can be replaced.
//! Receipts are in the events of settled calls.

use crate::{model::Request, run::Event};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::Write,
    path::PathBuf,
    sync::{Mutex, OnceLock, PoisonError},
    thread,
};

/// Recorder of all events and requests of the tests, to compare two versions of the engine: its folder, and the runs
/// that it knows.
struct Oracle {
    folder: PathBuf,
    /// Test in which each run began, and the run's number in that test, by the id of the run.
    runs: Mutex<HashMap<String, (String, usize)>>,
}

static ORACLE: OnceLock<Option<Oracle>> = OnceLock::new();

fn oracle() -> Option<&'static Oracle> {
    let made = ORACLE.get_or_init(|| {
        let folder = PathBuf::from(std::env::var_os("AGENTS_ORACLE")?);
        fs::create_dir_all(&folder).ok()?;
        Some(Oracle {
            folder,
            runs: Mutex::default(),
        })
    });
    made.as_ref()
}

/// Returns `true` if events are recorded: the variable `AGENTS_ORACLE` names a folder.
pub(crate) fn is_on() -> bool {
    oracle().is_some()
}

/// Writes an event of a run to the file of its test, if the oracle is on; panics if the event cannot be read back.
pub(crate) fn happened(run: &str, event: &Event) {
    if let Some(oracle) = oracle() {
        let text = serde_json::to_string(&event).unwrap_or_default();
        let again = serde_json::from_str::<Event>(&text).map(|event| json!(event));
        let mut event = json!(event);
        assert_eq!(
            again.ok().as_ref(),
            Some(&event),
            "an event can be read again"
        );
        // These fields differ from run to run.
        if let Value::Object(event) = &mut event {
            event.retain(|name, _| !matches!(&**name, "run_id" | "seq" | "at"));
        }
        oracle.write(run, "event", event);
    }
}

/// Writes a request to a model to the file of its test, if the oracle is on.
pub(crate) fn asked(run: &str, request: &Request<'_>) {
    if let Some(oracle) = oracle() {
        let tools: Vec<_> = request.tools().map(|spec| spec.name.as_ref()).collect();
        let line = json!({
            "place": request.place(),
            "messages": request.messages(),
            "tools": tools,
            "format": request.format(),
        });
        oracle.write(run, "request", line);
    }
}

impl Oracle {
    /// Appends a line to the file of the run's test. If that fails, a message is printed, and the test goes on.
    fn write(&self, run: &str, what: &str, line: Value) {
        let (test, number) = self.place_of(run);
        let line = json!({"run": number, what: line});
        let file = self
            .folder
            .join(format!("{}.jsonl", test.replace("::", ".")));
        let open = OpenOptions::new().create(true).append(true).open(&file);
        let written = open.and_then(|mut file: File| writeln!(file, "{line}"));
        if let Err(error) = written {
            eprintln!("the oracle cannot write {}: {error}", file.display());
        }
    }

    /// Returns the test in which a run began, by the name of its thread, and the run's number there.
    fn place_of(&self, run: &str) -> (String, usize) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = runs.get(run) {
            return place.clone();
        }
        let thread = thread::current();
        let test = thread.name().unwrap_or("unnamed").to_owned();
        let number = runs.values().filter(|(other, _)| *other == test).count();
        runs.insert(run.to_owned(), (test.clone(), number));
        (test, number)
    }
}
