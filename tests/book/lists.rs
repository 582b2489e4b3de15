//! Lists on pages that are made from the sources: compile errors, and defects that are found before anything
//! runs.

use crate::{read, root, texts};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

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
    for folder in fs::read_dir(root().join("tests/ui")).unwrap() {
        let folder = folder.unwrap().path();
        for case in fs::read_dir(&folder).unwrap() {
            let case = case.unwrap().path();
            if case.extension().is_some_and(|ending| ending == "stderr") {
                let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
                cases.push(format!("{}/{}", name(&folder), name(&case)));
            }
        }
    }
    let known: BTreeSet<_> = shown.iter().collect();
    assert_eq!(known.len(), shown.len(), "a case stands there twice");
    let lacking: Vec<_> = cases.iter().filter(|case| !known.contains(case)).collect();
    assert!(
        lacking.is_empty(),
        "name these in a section of every-compile-error.md, `<!-- cases: .. -->`, and bless it: {lacking:?}"
    );
}

#[test]
fn every_defect_is_listed() {
    let shown = lists("book/src/errors.md", "texts", |path| {
        let source = source(path);
        let code = source.split("\n#[cfg(test)]").next().unwrap();
        texts(code)
            .into_iter()
            .filter(|text| is_message(text))
            .collect()
    });
    // A defect that is added in another file has to be listed on the page.
    let elsewhere = [
        // The innermost cause, which other files describe.
        "agents-core/src/engine/drive.rs",
        "agents-core/src/context/settings.rs",
        "agents-core/src/run/stop.rs",
        "agents-core/src/error/kind.rs",
        "agents-core/src/error/mod.rs",
        "agents-core/src/error/cause.rs",
        "agents-core/src/compose/mod.rs",
        // This file examines such errors, but creates none.
        "agents-core/src/context/repair.rs",
        // These files have their own wording.
        "agents-core/src/compose/first.rs",
        "agents-core/src/recovery/verbs.rs",
        "agents-core/src/media/file.rs",
    ];
    let mut folders = vec![root().join("agents-core/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if is_made_in(&path) {
                let path = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_string_lossy()
                    .into_owned();
                let is_known = shown.contains(&path) || elsewhere.contains(&&*path);
                assert!(is_known, "{path} is not on the page about errors");
            }
        }
    }
}

/// Returns `true` if a source file creates such an error with a text of its own, apart from comments.
fn is_made_in(source: &Path) -> bool {
    let source = fs::read_to_string(source).unwrap();
    let code = source
        .split(
            "
#[cfg(test)]",
        )
        .next()
        .unwrap();
    let mut lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.any(|line| line.contains("ErrorKind::Build"))
        && texts(code).iter().any(|text| is_message(text))
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
fn every_text_for_models_is_listed() {
    let shown = lists("book/src/what-models-are-told.md", "told", |path| {
        told(&source(path))
    });
    // These files have texts for people alone.
    let for_people = [
        "agents-core/src/engine/attach.rs",
        "agents-core/src/engine/call.rs",
        "agents-core/src/engine/giving_up.rs",
        "agents-core/src/engine/list.rs",
        "agents-core/src/engine/model.rs",
        "agents-core/src/engine/offload.rs",
        "agents-core/src/journal/recorded/what_if.rs",
    ];
    let mut lacking = Vec::new();
    let mut folders = ["engine", "journal", "memory", "policy"]
        .map(|folder| root().join("agents-core/src").join(folder))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path
                .strip_prefix(root())
                .unwrap()
                .to_string_lossy()
                .into_owned();
            let is_known = shown.contains(&name) || for_people.contains(&&*name);
            let is_known = is_known || name.ends_with("/wording.rs");
            if !is_known && !name.contains("tests") && !told(&read(&name)).is_empty() {
                lacking.push(name);
            }
        }
    }
    assert!(
        lacking.is_empty(),
        "not on the page about what models are told: {lacking:?}"
    );
}

#[test]
fn every_section_of_texts_is_on_a_page() {
    let pages = [
        read("book/src/errors.md"),
        read("book/src/what-models-are-told.md"),
    ];
    let within = [
        // Reasons that stand within other texts.
        "agents-core/src/engine/wording.rs#answers",
        // Errors of a page of its own.
        "agents-core/src/engine/wording.rs#images-and-files",
        "agents-core/src/journal/recorded/wording.rs#differences",
        "agents-core/src/journal/recorded/wording.rs#what-if",
    ];
    let mut found = 0;
    for path in files_below(root().join("agents-core/src")) {
        let file = path.strip_prefix(root()).unwrap().to_string_lossy();
        if !file.ends_with("wording.rs") {
            continue;
        }
        for (name, _) in sections(&file) {
            found += 1;
            let section = format!("{file}#{name}");
            let is_listed = pages
                .iter()
                .any(|page| page.contains(&format!("{section} ")));
            assert!(
                is_listed || within.contains(&&*section),
                "{section} is on no page"
            );
        }
    }
    assert!(found > 30, "{found}");
}

/// Returns the files below a folder, apart from tests.
fn files_below(folder: PathBuf) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.to_string_lossy().contains("tests") => {}
                false => files.push(path),
            }
        }
    }
    files
}

/// Returns the messages of a source file that belong into the file of texts of its folder. The sentences of `Display`
/// and of `#[error(..)]` stand with their type. SQL is none.
fn astray(code: &str) -> Vec<String> {
    let code = code.split("\n#[cfg(test)]\nmod ").next().unwrap();
    let mut kept = String::new();
    let (mut is_display, mut is_attribute) = (false, false);
    for line in code.split_inclusive('\n') {
        is_display |= line.starts_with("impl") && line.contains("Display for");
        is_attribute |= line.trim_start().starts_with("#[");
        if !is_display && !is_attribute && !line.contains(".expect(") {
            kept.push_str(line);
        }
        is_display &= line != "}\n";
        is_attribute &= !line.ends_with("]\n");
    }
    let is_sql = |text: &str| {
        text.contains(" = '")
            || text.contains("SELECT")
            || text.contains(" @> ")
            || text.contains(" <= $")
            || text.contains(" = 'done'")
            || text.matches(", ").count() > 8
    };
    let begins = |first: char| first.is_lowercase() || first == '`';
    let mut texts = told(&kept);
    texts.retain(|text| is_message(text) && text.starts_with(begins) && !is_sql(text));
    texts
}

#[test]
fn the_texts_of_a_folder_are_in_its_file_of_texts() {
    // So few texts need no file of their own.
    const FEW: usize = 3;
    let apart = [
        // A label of a key, which nobody reads.
        "agents-store/src/digest.rs",
        // A report, which displays its fields.
        "agents-runtime/src/verify.rs",
        // The reason for an attribute.
        "agents-runtime/src/run_ref.rs",
        // A check of the tests' builds.
        "agents-core/src/context/machine.rs",
        // A policy for browsers.
        "agents-server/src/guard.rs",
        // A table of formats, each with its check.
        "agents-core/src/tool/formats.rs",
        // The reason why a line is never reached.
        "agents-core/src/tool/uninjected.rs",
        // Examples of keys.
        "agents-macros/src/keys.rs",
        // What became of a request, with its kind and its text: files of texts themselves.
        "agents-http/src/reply/failure.rs",
        "agents-ollama/src/error.rs",
        // The lines of the console, and the question at the terminal: files of texts themselves.
        "src/approve.rs",
        "src/console.rs",
    ];
    let mut crates = vec![root().to_owned()];
    for entry in fs::read_dir(root()).unwrap() {
        let path = entry.unwrap().path();
        if path.join("src/lib.rs").is_file() || path.join("src/main.rs").is_file() {
            crates.push(path);
        }
    }
    assert!(crates.len() > 10, "{crates:?}");
    let mut folders: BTreeMap<PathBuf, Vec<(String, String)>> = BTreeMap::new();
    let files = crates.iter().map(|part| files_below(part.join("src")));
    for path in files.flatten() {
        let folder = path.parent().unwrap().to_owned();
        let file = path.strip_prefix(root()).unwrap().to_string_lossy();
        let is_left_out = path.extension().is_none_or(|ending| ending != "rs")
            || file.ends_with("wording.rs")
            || file.contains("/messages/")
            // A suite of tests for stores.
            || file.contains("/conformance/")
            // Markup, whose texts stand where they are shown.
            || file.contains("/pages/")
            || apart.contains(&&*file);
        if !is_left_out {
            let texts = astray(&read(&file)).into_iter();
            let texts = texts.map(|text| (file.to_string(), text));
            folders.entry(folder).or_default().extend(texts);
        }
    }
    folders.retain(|folder, texts| match folder.join("wording.rs").exists() {
        true => !texts.is_empty(),
        false => texts.len() > FEW,
    });
    assert!(
        folders.is_empty(),
        "these belong in the folder's `wording.rs`: {folders:#?}"
    );
}
