//! Links and anchors, of the chapters and of the pages beside the code.

use crate::root;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

/// Returns the chapters, and the pages beside the code.
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
        "REQUIREMENTS.md",
        "CHANGELOG.md",
    ];
    pages.extend(beside.map(|page| root().join(page)));
    // The front pages of the other crates.
    let crates = fs::read_dir(root()).unwrap();
    let fronts = crates.map(|entry| entry.unwrap().path().join("README.md"));
    pages.extend(fronts.filter(|page| page.exists() && !page.starts_with(root().join("target"))));
    pages
}

/// Returns a page without its code blocks, which contain no links.
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

/// Returns the targets of a page's links, `[text](here)`, except for text in backticks.
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

/// Returns the anchors of a page's headings, as mdBook and GitHub make them.
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
fn the_summary_has_the_titles_of_the_chapters() {
    let summary = fs::read_to_string(root().join("book/src/SUMMARY.md")).unwrap();
    for line in summary.lines().filter(|line| line.contains("](")) {
        let (title, path) = line.trim_end_matches(')').split_once("](").unwrap();
        let (_, title) = title.split_once('[').unwrap();
        let chapter = fs::read_to_string(root().join("book/src").join(path)).unwrap();
        assert_eq!(
            chapter.lines().next(),
            Some(&*format!("# {title}")),
            "{path}"
        );
    }
}

/// `agents` in the registry is another project, and so are its pages on docs.rs.
#[test]
fn nothing_links_to_the_pages_of_another_project() {
    let mut folders: Vec<_> = [
        "src",
        "agents-core",
        "agents-macros",
        "agents-http",
        "agents-ollama",
        "agents-openai",
        "agents-anthropic",
        "agents-gemini",
        "agents-store",
        "agents-runtime",
        "agents-cli",
        "agents-mcp",
        "agents-openapi",
        "agents-sandbox",
        "agents-restate",
        "agents-control",
        "agents-server",
    ]
    .map(|folder| root().join(folder))
    .into();
    let mut files = pages();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with("node_modules") => {}
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    let foreign = [
        "docs.rs/agents/",
        "docs.rs/crate/agents/",
        "crates.io/crates/agents)",
    ];
    files.retain(|path| {
        let text = fs::read_to_string(path).unwrap();
        foreign.iter().any(|address| text.contains(address))
    });
    assert!(files.is_empty(), "{files:#?}");
}

#[test]
fn links_and_anchors_are_found() {
    let page = "# A `b!`, c\n[x](y.md#z) `[no](link)`\n```\n# no [no](link)\n```\n## A\n## A\n";
    assert_eq!(links(page), ["y.md#z"]);
    let expected = ["a", "a-1", "a-b-c"].map(str::to_owned);
    assert_eq!(anchors(page), BTreeSet::from(expected));
}
