//! Checks of the book: links have targets, and pages with lists are complete. `UPDATE_EXPECT=1 cargo test --test book`
//! writes the lists that are made from the sources.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod blocks;
mod features;
mod glossary;
mod hidden;
mod links;
mod lists;
mod printed;
mod shown;
mod terms;
mod variants;
mod words;

use std::{fs, path::Path};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the string literals of a source file. Literals in comments, in assignments (a note of an attribute, a
/// constant) and in logging are left out.
fn texts(source: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let before = &rest[..at];
        let is_logged = before
            .rsplit('\n')
            .next()
            .is_some_and(|line| line.contains("tracing::"));
        let is_value = before.ends_with("= ") || is_logged;
        let (found, after) = rest[at..].split_at(1);
        rest = after;
        match found {
            "/" if rest.starts_with('/') => {
                rest = rest.split_once('\n').map_or("", |(_, next)| next)
            }
            "'" if rest.starts_with("\"'") => rest = &rest[2..],
            "\"" => {
                let mut text = String::new();
                let mut is_indent = false;
                let mut letters = rest.char_indices();
                while let Some((at, letter)) = letters.next() {
                    match letter {
                        '"' => {
                            rest = &rest[at + 1..];
                            break;
                        }
                        '\\' => match letters.next().unwrap().1 {
                            'n' => text.push('\n'),
                            // The literal continues in the next line.
                            '\n' => is_indent = true,
                            other => text.push(other),
                        },
                        ' ' if is_indent => {}
                        letter => {
                            is_indent = false;
                            text.push(letter);
                        }
                    }
                }
                if !is_value {
                    texts.push(text);
                }
            }
            _ => {}
        }
    }
    texts
}
