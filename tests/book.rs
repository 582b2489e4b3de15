//! The book keeps what it says of itself: links lead somewhere, and the pages about errors have all of
//! them. `UPDATE_EXPECT=1 cargo test --test book` writes the lists that are made from the sources.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The chapters, and the pages beside the code.
fn pages() -> Vec<PathBuf> {
    let chapters = fs::read_dir(root().join("book/src")).unwrap();
    let chapters = chapters.map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = chapters
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    let beside = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ];
    pages.extend(beside.map(|page| root().join(page)));
    pages
}

/// The page without its code, in which nothing is a link.
fn prose(page: &str) -> String {
    let mut is_code = false;
    let lines = page.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    let lines: Vec<_> = lines.collect();
    lines.join("\n")
}

/// Where a page's links lead: `[text](here)`, but not what stands in backticks.
fn links(page: &str) -> Vec<String> {
    let prose = prose(page);
    let mut links = Vec::new();
    let mut is_code = false;
    for (at, letter) in prose.char_indices() {
        is_code ^= letter == '`';
        if let (false, Some(rest)) = (is_code, prose[at..].strip_prefix("](")) {
            links.push(rest[..rest.find(')').unwrap()].to_owned());
        }
    }
    links
}

/// The anchors of a page's headings, as mdBook and GitHub make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut seen = BTreeMap::new();
    let prose = prose(page);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title
                .chars()
                .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
            let anchor: String = kept
                .map(|letter| if letter == ' ' { '-' } else { letter })
                .collect();
            let times = seen.entry(anchor.clone()).or_insert(0);
            *times += 1;
            match *times {
                1 => anchor,
                more => format!("{anchor}-{}", more - 1),
            }
        })
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            if link.starts_with("https://") || link.starts_with("http://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => page.clone(),
                path => page.parent().unwrap().join(path),
            };
            let is_there = match anchor {
                "" => target.exists(),
                anchor => fs::read_to_string(&target)
                    .is_ok_and(|target| anchors(&target).contains(anchor)),
            };
            if !is_there {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn links_and_anchors_are_found() {
    let page = "# A `b!`, c\n[x](y.md#z) `[no](link)`\n```\n# no [no](link)\n```\n## A\n## A\n";
    assert_eq!(links(page), ["y.md#z"]);
    let expected = ["a", "a-1", "a-b-c"].map(str::to_owned);
    assert_eq!(anchors(page), BTreeSet::from(expected));
}

/// The variants of an enum, in a file of the core.
fn variants(path: &str, name: &str) -> BTreeSet<String> {
    let source = read(&format!("agents-core/src/{path}"));
    let (_, body) = source.split_once(&format!("pub enum {name} {{")).unwrap();
    let (body, _) = body.split_once("\n}").unwrap();
    let variants = body.lines().filter_map(|line| {
        let line = line.strip_prefix("    ")?;
        line.starts_with(|letter: char| letter.is_ascii_uppercase())
            .then(|| line.split(|letter: char| !letter.is_alphanumeric()))?
            .next()
    });
    variants.map(str::to_owned).collect()
}

/// The first cells of the table whose head begins so.
fn rows(page: &str, head: &str) -> BTreeSet<String> {
    let (_, table) = page.split_once(&format!("\n| `{head}` |")).unwrap();
    let rows = table.lines().skip(2).map_while(|line| {
        let cell = line.strip_prefix("| `")?;
        Some(cell.split('`').next()?.to_owned())
    });
    rows.collect()
}

#[test]
fn every_error_has_its_row() {
    let page = read("book/src/errors.md");
    for (path, name) in [
        ("error/kind.rs", "ErrorKind"),
        ("run/outcome.rs", "Stopped"),
        ("run/budget.rs", "Limit"),
        ("model/error.rs", "ModelErrorKind"),
        ("error/tool.rs", "ToolError"),
        ("error/tool.rs", "Code"),
        ("error/tool.rs", "Class"),
        ("error/cause.rs", "Origin"),
        ("reader/refusal.rs", "RefusalKind"),
    ] {
        let variants = variants(path, name);
        assert!(variants.len() > 2, "{name} is read wrongly: {variants:?}");
        assert_eq!(variants, rows(&page, name), "{name}");
    }
}

#[test]
fn every_code_has_its_class() {
    let page = read("book/src/errors.md");
    let codes = variants("error/tool.rs", "Code");
    for code in codes {
        let code: agents::Code = serde_json::from_value(code_on_the_wire(&code).into()).unwrap();
        let (wire, class) = (code.as_str(), code.class());
        let row = format!("| `{code:?}` | `{wire}` | `{class}` |");
        assert!(page.contains(&row), "{row}");
    }
}

/// `RATE_LIMIT` for `RateLimit`.
fn code_on_the_wire(name: &str) -> String {
    let mut wire = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !wire.is_empty() {
            wire.push('_');
        }
        wire.push(letter.to_ascii_uppercase());
    }
    wire
}

/// What stands below `<!-- {mark}: a b c -->`: made of `a b c` by `list`.
fn lists(path: &str, mark: &str, list: impl Fn(&str) -> Vec<String>) -> Vec<String> {
    let page = read(path);
    let mark = format!("<!-- {mark}: ");
    let mut parts = page.split(&mark);
    let mut expected = parts.next().unwrap().to_owned();
    let mut all = Vec::new();
    for part in parts {
        let (sources, rest) = part.split_once(" -->\n").unwrap();
        // A list from before goes.
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
        fs::write(root().join(path), &expected).unwrap();
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

/// The first line of each error; where that says nothing, with what the label below it says.
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
    assert_eq!(
        known,
        cases.iter().collect(),
        "all of `tests/ui`, and nothing else"
    );
}

/// What stands below `<!-- shown: tool/undescribed.stderr -->` stands in that file of `tests/ui`, line for line;
/// `...` stands for lines that are left out.
#[test]
fn what_is_shown_of_a_case_is_what_it_says() {
    let page = read("book/src/compile-errors.md");
    let mut shown = BTreeSet::new();
    for part in page.split("<!-- shown: ").skip(1) {
        let (case, rest) = part.split_once(" -->\n\n```").unwrap();
        let (_, quoted) = rest.split_once('\n').unwrap();
        let (quoted, _) = quoted.split_once("\n```").unwrap();
        let source = read(&format!("tests/ui/{case}"));
        for passage in quoted.split("\n...\n") {
            assert!(!passage.trim().is_empty(), "{case}");
            let is_there = format!("\n{source}\n").contains(&format!("\n{passage}\n"));
            assert!(is_there, "{case} does not say:\n{passage}");
        }
        shown.insert(case.to_owned());
    }
    let headings = page.lines().filter(|line| line.starts_with("## ")).count();
    assert_eq!(headings, 20);
    // Each mistake has its code and what is said about it.
    for case in shown.iter().filter_map(|case| case.strip_suffix(".rs")) {
        assert!(shown.contains(&format!("{case}.stderr")), "{case}");
    }
    assert_eq!(shown.len(), 2 * headings);
}

#[test]
fn every_defect_is_listed() {
    let shown = lists("book/src/errors.md", "texts", |path| {
        let source = read(path);
        let code = source.split("\n#[cfg(test)]").next().unwrap();
        texts(code)
            .into_iter()
            .filter(|text| is_message(text))
            .collect()
    });
    // Whoever adds a defect somewhere else is told to name the file on the page.
    let elsewhere = [
        // The innermost reason, which others have put into words.
        "agents-core/src/run/driver.rs",
        "agents-core/src/run/root.rs",
        "agents-core/src/run/stop.rs",
        "agents-core/src/error/kind.rs",
        "agents-core/src/error/mod.rs",
        "agents-core/src/error/cause.rs",
        "agents-core/src/compose/mod.rs",
    ];
    let mut folders = vec![root().join("agents-core/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if fs::read_to_string(&path)
                .unwrap()
                .lines()
                .any(|line| line.contains("ErrorKind::Build") && !line.contains("//"))
            {
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

/// Something a person is told, with a way out or a reason.
fn is_message(text: &str) -> bool {
    text.split_whitespace().count() > 5 && !text.ends_with(['.', '\n'])
}

/// The string literals of a source, without those in comments, and those to which something is set: a
/// note of an attribute, a constant.
fn texts(source: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let is_value = rest[..at].ends_with("= ");
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
                            // The literal goes on in the next line.
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
