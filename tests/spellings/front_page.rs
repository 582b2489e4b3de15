use agents::prelude::*;

use std::{
    io::{self, ErrorKind},
    path::PathBuf,
};

/// You are a JSON repair tool. Return ONLY the fixed JSON.
#[agent(budget(max_turns = 1))]
async fn json_fixer(request: String) -> String;

fn my_cleanup(raw: &str) -> Option<String> {
    raw.strip_suffix(";").map(str::to_owned)
}

fn words_to_number(value: Option<&serde_json::Value>) -> Option<serde_json::Value> {
    (value?.as_str()? == "three").then(|| 3.into())
}

tool! {
    /// Read a file's contents.
    #[tool(reads)]
    pub async fn read_file(
        /// Path, relative to the workspace.
        path: PathBuf,
        /// Maximum number of lines.
        #[serde(default)] lines: Option<u32>,
    ) -> io::Result<String> {
        Ok(format!("{} {lines:?}", path.display()))
    }

    on_error {
        invalid_args(raw, _) => fix(my_cleanup(raw)).or(fix(agent = JsonFixer, retries = 3)),
        deserialization_error(value, error) if error.field("lines") => sanitize(words_to_number(value)),
        execution_error(Returned(e)) => match e.kind() {
            ErrorKind::NotFound         => escalate("file not found", severity = Medium),
            ErrorKind::PermissionDenied => throw("credentials cannot read the workspace"),
            _                           => retry(max_attempts = 3, backoff = exponential()).or(feedback(format!("still failing: {e}"))),
        },
        execution_error(TimedOut(_) | Panicked(_)) => escalate("the reader is sick", severity = High),
    }
}

pub(super) fn main() {
    let _ = ReadFile;
}
