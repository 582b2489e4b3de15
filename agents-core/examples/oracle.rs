//! Compares what two versions of the engine did in the same tests.
//!
//! ```text
//! AGENTS_ORACLE=/tmp/before cargo test --test integration      # on one version
//! AGENTS_ORACLE=/tmp/after cargo test --test integration       # on the other
//! cargo run -p typed-agents-core --example oracle -- /tmp/before /tmp/after
//! ```
//!
//! Each test has a file with a line for each event and each request to a model. Times, ids, ports and
//! temporary folders are made alike first, and lines are ordered by their place in the run, since
//! calls at once have no order. Prints the lines that only one of the two has, and exits with 1 if there are any.
//! Tests that make their own cases by chance differ each time: two folders of one version show which.
//!
//! `oracle --digests FOLDER` prints a line for each test, with a digest of what it did. `tests/fixtures/oracle.txt` has
//! the lines of the tests of November 2026 that do the same each time, and may stand in the place of BEFORE. For the
//! lines behind a digest that differs, run the test on a checkout of that time.

#![allow(clippy::print_stdout)] // Its output is what it is for.

use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs, io,
    path::Path,
    process::ExitCode,
};

fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let done = match &given[..] {
        [word, folder] if word == "--digests" => digests(Path::new(folder)),
        [before, after] => compare(Path::new(before), Path::new(after)),
        _ => {
            eprintln!("usage: oracle BEFORE AFTER, or oracle --digests FOLDER");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Returns a digest of a test's lines.
fn digest_of(lines: &[String]) -> String {
    let digest = hmac_sha256::Hash::hash(lines.join("\n").as_bytes());
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Prints each test with a digest of its lines, for a file that may stand in the place of a folder.
fn digests(folder: &Path) -> io::Result<usize> {
    for (name, lines) in tests(folder)? {
        println!("{name} {}", digest_of(&lines));
    }
    Ok(0)
}

/// Prints the differences, and returns in how many tests there are some.
fn compare(before: &Path, after: &Path) -> io::Result<usize> {
    if before.is_file() {
        return compare_digests(&fs::read_to_string(before)?, after);
    }
    let (before, after) = (tests(before)?, tests(after)?);
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut differ = 0;
    for name in &names {
        let lines = |of: &BTreeMap<String, Vec<String>>| of.get(*name).cloned().unwrap_or_default();
        let (old, new) = (lines(&before), lines(&after));
        if old == new {
            continue;
        }
        differ += 1;
        println!("{name}");
        for line in only_in(&old, &new) {
            println!("  - {line}");
        }
        for line in only_in(&new, &old) {
            println!("  + {line}");
        }
    }
    println!("{} tests, {differ} differ", names.len());
    Ok(differ)
}

/// Prints the tests of a file of digests that did something else, or were not run, and returns their number. The file
/// leaves out tests that make their own cases by chance.
fn compare_digests(before: &str, after: &Path) -> io::Result<usize> {
    let after = tests(after)?;
    let before: Vec<_> = before
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let mut differ = 0;
    for (name, digest) in &before {
        match after.get(*name).map(|lines| digest_of(lines)) {
            Some(now) if now == *digest => continue,
            Some(_) => println!("{name}"),
            None => println!("{name} was not run"),
        }
        differ += 1;
    }
    println!("{} tests, {differ} differ", before.len());
    Ok(differ)
}

/// The lines that are in one list more often than in the other.
fn only_in<'a>(one: &'a [String], two: &[String]) -> Vec<&'a String> {
    let mut left: HashMap<&String, usize> = HashMap::new();
    for line in two {
        *left.entry(line).or_default() += 1;
    }
    let is_new = |line: &&String| match left.get_mut(*line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    one.iter().filter(is_new).collect()
}

/// The lines of each test, made alike and in the order of their places.
fn tests(folder: &Path) -> io::Result<BTreeMap<String, Vec<String>>> {
    let mut tests = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_stem() else {
            continue;
        };
        let mut ids = HashMap::new();
        let mut lines = Vec::new();
        for line in fs::read_to_string(&path)?.lines() {
            let mut value: Value = serde_json::from_str(line).map_err(|error| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("{}: {error}", path.display()),
                )
            })?;
            alike(&mut value, &mut ids);
            let place = value["event"]["place"]
                .as_str()
                .or(value["request"]["place"].as_str());
            let place = (value["run"].as_u64(), place.unwrap_or_default().to_owned());
            lines.push((place, value.to_string()));
        }
        lines.sort_by(|one, two| one.0.cmp(&two.0));
        let lines = lines.into_iter().map(|(_, line)| line).collect();
        tests.insert(name.to_string_lossy().into_owned(), lines);
    }
    Ok(tests)
}

/// Replaces what differs from run to run: times, and in texts ids, ports and temporary folders.
fn alike(value: &mut Value, ids: &mut HashMap<String, usize>) {
    match value {
        Value::String(text) => *text = alike_text(text, ids),
        Value::Array(items) => items.iter_mut().for_each(|item| alike(item, ids)),
        Value::Object(members) => {
            for (key, value) in members {
                let is_time = key.ends_with("_s")
                    || key.ends_with("_ms")
                    || matches!(
                        key.as_str(),
                        "t_start" | "t_end" | "secs" | "nanos" | "wait" | "time" | "elapsed"
                    );
                match is_time {
                    true => *value = Value::Null,
                    false => alike(value, ids),
                }
            }
        }
        _ => {}
    }
}

fn alike_text(text: &str, ids: &mut HashMap<String, usize>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let taken = if let Some(id) = uuid(rest).or_else(|| digest(rest)) {
            let next = ids.len();
            let number = *ids.entry(id.to_owned()).or_insert(next);
            out.push_str(&format!("ID{number}"));
            id.len()
        } else if let Some(port) = rest.strip_prefix("127.0.0.1:") {
            out.push_str("127.0.0.1:PORT");
            "127.0.0.1:".len() + digits(port)
        } else if let Some(path) = rest.strip_prefix("/tmp/") {
            out.push_str("/tmp/FOLDER");
            "/tmp/".len() + path.find(['/', '"', ' ', '`']).unwrap_or(path.len())
        } else if rest.starts_with(|c: char| c.is_ascii_digit()) && measured(rest) > 0 {
            out.push_str("TIME");
            measured(rest)
        } else {
            let width = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..width]);
            width
        };
        rest = &rest[taken..];
    }
    out
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The length of a time such as `12.5ms` or `3 s`.
fn measured(text: &str) -> usize {
    let number = text
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'.')
        .count();
    let rest = &text[number..];
    let units = ["ms", "µs", "ns", " ms", " µs", "s ", "s,", "s;", "s)"];
    let unit = units.iter().find(|unit| rest.starts_with(**unit));
    unit.map_or(0, |unit| {
        number + unit.trim_end_matches([' ', ',', ';', ')']).len()
    })
}

/// The id of a receipt at the beginning of a text: it depends on the arguments, and so on ports.
fn digest(text: &str) -> Option<&str> {
    let id = text.get(..32)?;
    let goes_on = text[32..].starts_with(|c: char| c.is_ascii_hexdigit());
    (!goes_on && id.bytes().all(|b| b.is_ascii_hexdigit())).then_some(id)
}

/// A UUID at the beginning of a text.
fn uuid(text: &str) -> Option<&str> {
    let id = text.get(..36)?;
    let is_one = id.bytes().enumerate().all(|(at, b)| match at {
        8 | 13 | 18 | 23 => b == b'-',
        _ => b.is_ascii_hexdigit(),
    });
    is_one.then_some(id)
}
