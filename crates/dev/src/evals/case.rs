//! Cases as data, and the files that hold them.

use super::wording;
use agents_core::agent::{Data, IntoInput};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{collections::HashMap, fs, io, path::Path};

/// Case of an eval: an input, and what is expected of the answer.
///
/// `I` is the input of the agent. `E` is whatever the scorers need: often the type of the answer, or a type of yours,
/// or an `Option` where some cases have no expectation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case<I, E> {
    /// Name of the case; no other case of the eval has it, in upper or lower case.
    pub name: String,
    /// Input that the agent gets in this case.
    pub input: I,
    /// Expectation of the answer, for the scorers.
    pub expected: E,
}

impl<I, E> Case<I, E> {
    /// Creates a case of an eval.
    pub fn new(name: impl Into<String>, input: impl IntoInput<I>, expected: E) -> Self {
        Case {
            name: name.into(),
            input: input.into_input(),
            expected,
        }
    }
}

/// Reads cases from a file of JSON lines: a case for each line, with the fields `name`, `input` and `expected`. Lines
/// that are empty or blank are left out.
///
/// ```
/// use agents::evals::{Case, read_cases};
///
/// # fn main() -> std::io::Result<()> {
/// # let path = std::env::temp_dir().join(format!("agents-doc-cases-{}.jsonl", std::process::id()));
/// std::fs::write(&path, r#"{"name": "two", "input": "1 + 1", "expected": 2}"#)?;
/// let cases: Vec<Case<String, u32>> = read_cases(&path)?;
/// assert_eq!(cases, [Case::new("two", "1 + 1", 2_u32)]);
///
/// std::fs::write(&path, r#"{"name": "two", "input": "1 + 1", "expected": "2"}"#)?;
/// let error = read_cases::<String, u32>(&path).unwrap_err().to_string();
/// assert!(error.contains("line 1: field `expected`: invalid type: string \"2\", expected u32"));
/// # std::fs::remove_file(path)
/// # }
/// ```
///
/// # Errors
/// When the file cannot be read, has no case, has two cases whose names differ in upper and lower case alone or not at
/// all, or has a line that is no case, or whose case has an empty name. The error names the file, and the line and the
/// field where known.
pub fn read_cases<I: Data, E: DeserializeOwned>(
    path: impl AsRef<Path>,
) -> io::Result<Vec<Case<I, E>>> {
    let path = path.as_ref();
    let text = fs::read_to_string(path)
        .map_err(|error| io::Error::new(error.kind(), wording::in_file(path, &error)))?;
    let mut lines = HashMap::new();
    let mut cases = Vec::new();
    let written = text.lines().enumerate();
    for (index, line) in written.filter(|(_, line)| !line.trim().is_empty()) {
        let number = index + 1;
        let refused = |what: String| invalid(wording::in_line(path, number, what));
        let case: Case<I, E> = parse(line).map_err(refused)?;
        if case.name.trim().is_empty() {
            return Err(refused(wording::NO_NAME.to_owned()));
        }
        if let Some(first) = lines.insert(case.name.to_lowercase(), number) {
            return Err(refused(wording::name_twice(&case.name, first)));
        }
        cases.push(case);
    }
    match cases.is_empty() {
        true => Err(invalid(wording::in_file(path, wording::NO_CASES))),
        false => Ok(cases),
    }
}

fn parse<I: Data, E: DeserializeOwned>(line: &str) -> Result<Case<I, E>, String> {
    // Only an object has fields: a list could be read as a case, too.
    if !line.trim_start().starts_with('{') {
        return Err(wording::NOT_AN_OBJECT.to_owned());
    }
    let mut reader = serde_json::Deserializer::from_str(line);
    let case = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let what = error.inner().to_string();
        // The text is one line.
        let what = what.replacen("at line 1 column", "at column", 1);
        wording::in_field(&error.path().to_string(), what)
    })?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(case)
}

pub(super) fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
