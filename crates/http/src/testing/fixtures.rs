//! Recorded exchanges with servers, from a folder that is no part of the project.

#![allow(clippy::unwrap_used)]

use crate::{Decoder, Ending, Format, Framing, Problem};
use agents_core::model::Reply;
use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// Recorded exchange with the server of a provider: the request, and the response to it.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// File of the exchange, and its number within the file.
    pub file: String,
    /// Path of the request; empty if it was not recorded.
    pub path: String,
    /// Body of the request; empty if it was not recorded.
    pub request: String,
    /// HTTP status of the response.
    pub status: u16,
    /// Body of the response, as the server sent it.
    pub body: String,
    /// `true` if the body has a JSON event on each line.
    pub is_lines: bool,
}

impl Recorded {
    /// Decodes the body of the response, `chunk` bytes at a time. The body is cut off before the byte `stop`, if it is
    /// that long. Returns what was read, with the problem if there was one.
    ///
    /// # Panics
    /// When `chunk` is 0.
    pub fn decode<F: Format + Default>(
        &self,
        chunk: usize,
        stop: usize,
    ) -> (Reply, Result<(), Problem>) {
        let (body, ending) = match stop < self.body.len() {
            true => (&self.body.as_bytes()[..stop], Ending::BrokeOff),
            false => (self.body.as_bytes(), Ending::Closed),
        };
        let mut decoder = match self.is_lines {
            true => Decoder::framed(F::default(), Framing::Lines),
            false => Decoder::new(F::default()),
        };
        let read = body
            .chunks(chunk)
            .try_for_each(|piece| decoder.on(piece, None))
            .and_then(|()| decoder.end(ending, None));
        (decoder.into_reply(), read)
    }
}

/// Reads the recorded exchanges for which `wanted` returns `true`, from the folder that the variable `AGENTS_FIXTURES`
/// names. Without the variable, the result is `None`.
///
/// # Panics
/// When the folder cannot be read.
pub fn read(wanted: impl Fn(&Recorded) -> bool) -> Option<Vec<Recorded>> {
    let mut files = Vec::new();
    find(Path::new(&env::var_os("AGENTS_FIXTURES")?), &mut files);
    files.sort();
    let mut all: Vec<_> = files.iter().flat_map(|file| exchanges(file)).collect();
    all.retain(wanted);
    Some(all)
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => find(&path, files),
            false => files.push(path),
        }
    }
}

fn exchanges(path: &Path) -> Vec<Recorded> {
    let file = path.display().to_string();
    let Ok(text) = fs::read_to_string(path) else {
        return Vec::new();
    };
    if file.ends_with(".yaml") {
        let documents = text
            .split("\n---\n")
            .filter(|document| !document.is_empty());
        let recorded = |(number, document): (usize, &str)| Recorded {
            file: format!("{file}#{number}"),
            ..cassette(document)
        };
        return documents.enumerate().map(recorded).collect();
    }
    let is_lines = file.ends_with(".chunks.txt");
    match is_lines || file.ends_with(".json") || file.ends_with(".sse") {
        true => vec![Recorded {
            file,
            status: 200,
            body: text,
            is_lines,
            ..Recorded::default()
        }],
        false => Vec::new(),
    }
}

/// Reads an exchange from the small part of YAML that recordings use: `when` with a path and a body, `then` with a
/// status and a body.
fn cassette(document: &str) -> Recorded {
    let (mut recorded, mut is_response) = (Recorded::default(), false);
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        match line {
            "when:" => is_response = false,
            "then:" => is_response = true,
            _ => {}
        }
        let Some((key, value)) = line
            .strip_prefix("  ")
            .and_then(|line| line.split_once(": "))
        else {
            continue;
        };
        if !matches!(key, "path" | "status" | "body") {
            continue;
        }
        let mut raw = vec![value.to_owned()];
        while let Some(line) = lines.next_if(|line| {
            line.is_empty()
                || line.starts_with("   ")
                || line.starts_with("  ") && value.starts_with(['\'', '"']) && !closes(&raw)
        }) {
            raw.push(line.to_owned());
        }
        let text = scalar(&raw);
        match (key, is_response) {
            ("path", _) => recorded.path = text,
            ("status", _) => recorded.status = text.parse().unwrap_or_default(),
            (_, true) => recorded.body = text,
            (_, false) => recorded.request = text,
        }
    }
    recorded
}

fn closes(raw: &[String]) -> bool {
    let text = raw.join("\n");
    text.len() > 1 && text.ends_with(&text[..1])
}

fn scalar(raw: &[String]) -> String {
    let first = raw[0].as_str();
    match first.as_bytes().first() {
        Some(b'|') => {
            let indent = first[1..].chars().find_map(|c| c.to_digit(10));
            let first_line = raw[1..].iter().find(|line| !line.trim().is_empty());
            let indent = indent.map_or_else(
                || first_line.map_or(0, |line| line.len() - line.trim_start().len()),
                |digits| digits as usize + 2,
            );
            let lines = raw[1..]
                .iter()
                .map(|line| line.get(indent..).unwrap_or_default());
            let text = lines.collect::<Vec<_>>().join("\n");
            match first.contains('-') {
                true => text.trim_end_matches('\n').to_owned(),
                false => text + "\n",
            }
        }
        Some(b'\'') => {
            let text = folded(raw);
            let inner = text
                .trim_end()
                .strip_prefix('\'')
                .and_then(|text| text.strip_suffix('\''));
            inner.unwrap_or(&text).replace("''", "'")
        }
        Some(b'"') => unescaped(&folded(raw)),
        _ => first.to_owned(),
    }
}

/// Joins the lines of a quoted text of YAML: a line feed is a space, and an empty line is a line feed.
fn folded(raw: &[String]) -> String {
    let mut text = raw[0].clone();
    let mut empty = 0;
    for line in &raw[1..] {
        match line.trim() {
            "" => empty += 1,
            line => {
                match (empty, text.strip_suffix('\\')) {
                    (0, Some(before)) => text = before.to_owned(),
                    (0, None) => text.push(' '),
                    _ => text.extend(std::iter::repeat_n('\n', empty)),
                }
                empty = 0;
                text.push_str(line);
            }
        }
    }
    text
}

fn unescaped(text: &str) -> String {
    let inner = text.trim_end();
    let inner = inner
        .strip_prefix('"')
        .and_then(|inner| inner.strip_suffix('"'))
        .unwrap_or(inner);
    let (mut out, mut chars) = (String::new(), inner.chars());
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('0') => out.push('\0'),
            Some(kind @ ('x' | 'u' | 'U')) => {
                let digits = match kind {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let text: String = chars.by_ref().take(digits).collect();
                let code = u32::from_str_radix(&text, 16).ok().and_then(char::from_u32);
                out.extend(code);
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}
