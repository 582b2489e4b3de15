//! Lists on pages that are made from the sources: compile errors, defects that are found before anything runs, and what
//! models are told.

use crate::{read, root};
use std::{collections::BTreeSet, fs, path::Path};

/// Checks that the text below each `<!-- {mark}: a b c -->` is what `list` makes of `a b c`.
fn lists(path: &str, mark: &str, list: impl Fn(&str) -> Vec<String>) -> Vec<String> {
    let page = read(path);
    let mark = format!("<!-- {mark}: ");
    let mut parts = page.split(&mark);
    let mut expected = parts.next().unwrap().to_owned();
    let mut all = Vec::new();
    for part in parts {
        let (sources, rest) = part.split_once(" -->\n").unwrap();
        // The old list is removed.
        let rest = match rest.strip_prefix("\n```text\n") {
            Some(before) => before.split_once("\n```\n").unwrap().1,
            None => rest,
        };
        let mut lines = Vec::new();
        for source in sources.split_whitespace() {
            all.push(source.to_owned());
            for line in list(source) {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        assert!(!lines.is_empty(), "{sources}");
        let lines = lines.join("\n");
        expected += &format!("{mark}{sources} -->\n\n```text\n{lines}\n```\n{rest}");
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        // The file is replaced at once, since other tests read it meanwhile.
        let (page, new) = (root().join(path), root().join(format!("{path}.new")));
        fs::write(&new, &expected).unwrap();
        fs::rename(new, page).unwrap();
    } else if page != expected {
        let old: BTreeSet<_> = page.lines().collect();
        let new: BTreeSet<_> = expected.lines().collect();
        panic!(
            "{path} is not up to date (`UPDATE_EXPECT=1 cargo test --test book`): gone {:#?}, new {:#?}",
            old.difference(&new).collect::<Vec<_>>(),
            new.difference(&old).collect::<Vec<_>>()
        );
    }
    all
}

/// Returns the source of a list: a file, or a section of it (`wording.rs#the-prompt`).
fn source(path: &str) -> String {
    let Some((file, section)) = path.split_once('#') else {
        return read(path);
    };
    let found = sections(file).into_iter().find(|(name, _)| name == section);
    found.unwrap_or_else(|| panic!("no section {path}")).1
}

/// Returns the sections of a file of texts. A section begins with its name in `// ---- .. ----`. Constants are written as
/// the reading of texts needs them.
fn sections(file: &str) -> Vec<(String, String)> {
    let text = read(file)
        .replace("= \"", "=  \"")
        .replace("=\n    \"", "=  \"");
    let mut parts = text.split("\n// ---- ");
    parts.next();
    let section = |part: &str| {
        let (name, text) = part.split_once(" ----\n").unwrap();
        let text = text.split("\n// ==== ").next().unwrap();
        (name.replace(' ', "-"), text.to_owned())
    };
    parts.map(section).collect()
}

/// Returns the first line of each error, or the label below it if the first line is too general.
fn first_lines(snapshot: &str) -> Vec<String> {
    let mut rest = snapshot.lines();
    let mut errors = Vec::new();
    while let Some(line) = rest.find(|line| line.starts_with("error")) {
        let mut labels = rest.clone().take_while(|line| !line.is_empty());
        let label = labels.find_map(|line| {
            let label = &line[line.find("expected `")?..];
            label.contains(", found ").then_some(label)
        });
        errors.push(match label.filter(|_| line.ends_with("mismatched types")) {
            Some(label) => format!("{line}: {label}"),
            None => line.to_owned(),
        });
    }
    errors
}

#[test]
fn every_compile_error_is_explained() {
    let shown = lists("book/src/every-compile-error.md", "cases", |case| {
        let snapshot = read(&format!("tests/ui/{case}.stderr"));
        first_lines(&snapshot)
    });
    let mut cases = Vec::new();
    let folders = fs::read_dir(root().join("tests/ui")).unwrap();
    for folder in folders.map(|folder| folder.unwrap().path()) {
        if !folder.is_dir() {
            continue;
        }
        for case in fs::read_dir(&folder).unwrap() {
            let case = case.unwrap().path();
            if case.extension().is_some_and(|ending| ending == "stderr") {
                let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
                cases.push(format!("{}/{}", name(&folder), name(&case)));
            }
        }
    }
    let lacking: Vec<_> = cases.iter().filter(|case| !shown.contains(case)).collect();
    assert!(
        lacking.is_empty(),
        "name these in a section of every-compile-error.md, `<!-- cases: .. -->`, and bless it: {lacking:?}"
    );
}

#[test]
fn the_defects_shown_are_those_of_the_sources() {
    lists("book/src/errors.md", "texts", |path| {
        let source = source(path);
        let code = source.split("\n#[cfg(test)]").next().unwrap();
        texts(code)
            .into_iter()
            .filter(|text| is_message(text))
            .collect()
    });
}

/// Returns `true` if a text is a message for people, with a remedy or a reason.
fn is_message(text: &str) -> bool {
    text.split_whitespace().count() > 5 && !text.ends_with(['.', '\n'])
}

/// Returns the sentences of a source file that are not about its types: without attributes, and without the log.
fn told(code: &str) -> Vec<String> {
    let code = code.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
    let mut kept = String::new();
    let mut until: Option<&str> = None;
    for line in code.lines() {
        let trimmed = line.trim();
        match until {
            Some(end) if trimmed.trim_end_matches([',', ';']) == end => until = None,
            Some(_) => {}
            None if trimmed.starts_with("#[diagnostic::on_unimplemented(") => until = Some(")]"),
            None if trimmed.contains("tracing::") && trimmed.ends_with('(') => {
                until = Some(")");
            }
            None if trimmed.contains("tracing::") => {}
            None if trimmed.starts_with("#[must_use") || trimmed.starts_with("//") => {}
            None => {
                kept.push_str(line);
                kept.push('\n');
            }
        }
    }
    let sentence = |text: &String| {
        let words = text
            .split_whitespace()
            .filter(|word| word.starts_with(char::is_lowercase));
        words.count() > 1
    };
    // Constants count here, too.
    texts(&kept.replace("= \"", "=  \""))
        .into_iter()
        .filter(sentence)
        .collect()
}

#[test]
fn what_models_are_told_is_what_the_sources_say() {
    lists("book/src/what-models-are-told.md", "told", |path| {
        told(&source(path))
    });
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
