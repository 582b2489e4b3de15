//! Links and anchors, of the chapters and of the pages beside the code.

use crate::root;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};

/// Returns the files below a folder. What was built, and what npm has fetched, is left out.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let (path, name) = (entry.path(), entry.file_name());
            let left_out = ["target", "node_modules", ".git"];
            let is_left_out = |name: &str| left_out.iter().any(|out| name.starts_with(out));
            match path.is_dir() {
                true if is_left_out(&name.to_string_lossy()) => {}
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files
}

/// Returns the pages whose links GitHub, crates.io and the book show: all but those that are documentation of an item.
fn pages() -> Vec<PathBuf> {
    let mut pages = files(root().to_owned());
    let is_in_the_documentation = |path: &PathBuf| path.parent().unwrap().ends_with("src/docs");
    pages.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.retain(|path| !is_in_the_documentation(path));
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

/// These names in the registry are other projects, and so are their pages.
#[test]
fn nothing_links_to_the_pages_of_another_project() {
    let names = [
        "agents",
        "agents-core",
        "agents-macros",
        "agents-runtime",
        "agents-cli",
    ];
    let foreign = names.map(|name| {
        [
            format!("docs.rs/{name}/"),
            format!("docs.rs/crate/{name}/"),
            format!("crates.io/crates/{name})"),
        ]
    });
    let folders = [
        "src",
        "agents-core",
        "agents-macros",
        "agents-ollama",
        "crates",
    ];
    let sources = folders.map(|folder| files(root().join(folder)));
    let mut all: Vec<_> = sources.into_iter().flatten().chain(pages()).collect();
    all.retain(|path| {
        // Pictures are no text.
        let text = fs::read_to_string(path).unwrap_or_default();
        foreign
            .iter()
            .flatten()
            .any(|address| text.contains(address))
    });
    assert!(all.is_empty(), "{all:#?}");
}

#[test]
fn links_and_anchors_are_found() {
    let page = "# A `b!`, c\n[x](y.md#z) `[no](link)`\n```\n# no [no](link)\n```\n## A\n## A\n";
    assert_eq!(links(page), ["y.md#z"]);
    let expected = ["a", "a-1", "a-b-c"].map(str::to_owned);
    assert_eq!(anchors(page), BTreeSet::from(expected));
}
