//! Code shared by the scoring examples: options, files of cases, and output.

use serde_json::Value;
use std::{collections::BTreeMap, env, error::Error, fmt::Display, fs, process};

/// Command-line options of all scoring examples.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) files: Vec<String>,
    /// Field by which the cases are grouped; each group gets a line.
    pub(crate) by: Option<String>,
    /// Texts, tags or flags whose cases are left out: those that [`has`] finds.
    pub(crate) without: Vec<String>,
    /// `true` to leave out cases whose answer is neither an object nor an array.
    pub(crate) objects: bool,
    /// Value of `--show`, by which each example decides what to print; empty if `--show` has no value, and `None`
    /// without `--show`.
    pub(crate) show: Option<String>,
}

/// Counts over the cases of a file.
pub(crate) trait Score: Default + Display {
    /// Outcome of a case.
    type Case;

    fn add(&mut self, case: &Self::Case);
}

impl Options {
    /// Reads the options from the command line; prints the usage and exits if no file is named.
    pub(crate) fn from_args(name: &str) -> Options {
        let mut options = Options::default();
        let mut args = env::args().skip(1).peekable();
        // Values extend to the next option or file.
        let is_value = |next: &String| !next.starts_with("--") && !next.ends_with(".jsonl");
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--by" => options.by = args.next(),
                "--objects" => options.objects = true,
                "--show" => options.show = Some(args.next_if(is_value).unwrap_or_default()),
                "--without" => {
                    while let Some(value) = args.next_if(is_value) {
                        options.without.push(value);
                    }
                }
                _ => options.files.push(arg),
            }
        }
        if options.files.is_empty() {
            eprintln!(
                "usage: {name} FILE.jsonl… [--by FIELD] [--without VALUE…] [--objects] [--show [WHAT]]"
            );
            process::exit(2);
        }
        options
    }

    /// Scores every file, and prints a line for it and for each of its groups.
    pub(crate) fn score<S: Score>(&self, mut score: impl FnMut(&Value) -> S::Case) {
        for file in &self.files {
            let cases = self.cases(file);
            self.print::<S>(file, cases.iter().map(|case| (case, score(case))));
        }
    }

    /// Prints a line for a file and for each of its groups.
    pub(crate) fn print<'a, S: Score>(
        &self,
        title: &str,
        scored: impl Iterator<Item = (&'a Value, S::Case)>,
    ) {
        let mut total = S::default();
        let mut groups = BTreeMap::<String, S>::new();
        for (case, what) in scored {
            total.add(&what);
            if let Some(by) = &self.by {
                groups.entry(label(&case[by])).or_default().add(&what);
            }
        }
        println!("{title}: {total}");
        for (name, score) in groups {
            println!("  {name}: {score}");
        }
    }

    /// Returns the cases of a file that are not left out.
    pub(crate) fn cases(&self, file: &str) -> Vec<Value> {
        let mut cases = load(file).unwrap_or_else(|error| {
            eprintln!("{file}: {error}");
            process::exit(2)
        });
        cases.retain(|case| {
            let expect = &case["expect"];
            !self.without.iter().any(|value| has(case, value))
                && (!self.objects || expect.is_object() || expect.is_array())
        });
        cases
    }
}

fn load(file: &str) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = fs::read_to_string(file)?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// Returns `true` if a case has a field with this text, other than `input`, `expect` and `text`, or this tag, or a
/// field of this name that is neither a text, `null` nor `false`.
pub(crate) fn has(case: &Value, name: &str) -> bool {
    const CONTENT: [&str; 3] = ["input", "expect", "text"];
    case.as_object()
        .into_iter()
        .flatten()
        .any(|(key, value)| match value {
            Value::String(text) if text == name => !CONTENT.contains(&&**key),
            Value::Array(tags) if key == "tags" => tags.iter().any(|tag| tag == name),
            Value::Null | Value::Bool(false) => false,
            _ => key == name,
        })
}

fn label(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns `true` if two values are equal; `1` equals `1.0`. With `may_lack`, an expected `null` may be missing.
pub(crate) fn equal(one: &Value, two: &Value, may_lack: bool) -> bool {
    match (one, two) {
        (Value::Number(one), Value::Number(two)) => one == two || one.as_f64() == two.as_f64(),
        (Value::Array(one), Value::Array(two)) => {
            one.len() == two.len()
                && one
                    .iter()
                    .zip(two)
                    .all(|(one, two)| equal(one, two, may_lack))
        }
        (Value::Object(one), Value::Object(two)) => {
            one.iter().all(|(key, value)| {
                two.get(key)
                    .is_some_and(|other| equal(value, other, may_lack))
            }) && two
                .iter()
                .all(|(key, value)| one.contains_key(key) || (may_lack && value.is_null()))
        }
        _ => one == two,
    }
}
