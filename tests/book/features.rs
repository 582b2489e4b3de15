//! The features in the manifests equal those on the pages about them.

use crate::{read, root};
use std::{collections::BTreeMap, fs};

/// Returns the features in a manifest. Each has a mark if it is on by default, and the dependencies that it switches on.
fn features(manifest: &str) -> BTreeMap<String, (bool, Vec<String>)> {
    let Some((_, section)) = manifest.split_once("\n[features]\n") else {
        return BTreeMap::new();
    };
    let (section, _) = section.split_once("\n\n").unwrap();
    let entries = section.lines().filter(|line| !line.starts_with('#'));
    let mut features: BTreeMap<_, _> = entries
        .map(|entry| {
            let (name, list) = entry.split_once(" = ").unwrap();
            let list = list.trim_matches(['[', ']']).split(", ");
            let list: Vec<_> = list.map(|part| part.trim_matches('"').to_owned()).collect();
            (name.to_owned(), list)
        })
        .collect();
    let default = features.remove("default").unwrap_or_default();
    let needed = |list: Vec<String>| {
        let needed = list.iter().filter_map(|part| part.strip_prefix("dep:"));
        needed.map(str::to_owned).collect()
    };
    let named = |(name, list)| {
        let is_default = default.contains(&name);
        (name, (is_default, needed(list)))
    };
    features.into_iter().map(named).collect()
}

/// Returns the cells of each row of the table below `heading`.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, page) = page.split_once(heading).unwrap();
    let table = page.lines().skip_while(|line| !line.contains("|-|"));
    let rows = table.skip(1).take_while(|line| line.contains('|'));
    rows.map(|row| {
        let row = row.trim_start_matches("//! ").trim_matches('|');
        row.split('|').map(|cell| cell.trim().to_owned()).collect()
    })
    .collect()
}

/// Returns the rows in alphabetical order, since the order of the table does not matter.
fn sorted(mut rows: Vec<(String, String)>) -> Vec<(String, String)> {
    rows.sort();
    rows
}

#[test]
fn every_feature_is_listed() {
    let features = features(&read("Cargo.toml"));
    assert!(features.len() > 5, "{features:?}");
    let expected = expected(&features);

    let page = rows(&read("book/src/features.md"), "# Features");
    let listed = page.iter().map(|row| (row[0].clone(), row[1].clone()));
    assert_eq!(sorted(listed.collect()), expected, "book/src/features.md");
    for row in &page {
        let (_, needed) = &features[row[0].trim_matches('`')];
        for dependency in needed {
            let is_named = row[3].contains(&format!("`{dependency}`"));
            assert!(is_named, "{} needs {dependency}", row[0]);
        }
    }
}

/// Each front page on docs.rs lists the features of its crate, and items there show the feature that they need.
#[test]
fn every_front_page_lists_the_features_of_its_crate() {
    let mut crates = 0;
    let folders = fs::read_dir(root()).unwrap();
    let folders = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let folders = folders.filter(|name| name.starts_with("agents-"));
    for folder in folders.chain([".".to_owned()]) {
        let manifest = read(&format!("{folder}/Cargo.toml"));
        let features = features(&manifest);
        let page = format!("{folder}/src/lib.rs");
        if features.is_empty() || !root().join(&page).exists() {
            continue;
        }
        crates += 1;
        let (of, page) = (page.clone(), read(&page));
        let docs = rows(&page, "//! # Features");
        let listed = docs.iter().map(|row| (row[0].clone(), row[2].clone()));
        assert_eq!(sorted(listed.collect()), expected(&features), "{of}");
        assert!(
            page.contains("#![cfg_attr(docsrs, feature(doc_cfg))]"),
            "{of}"
        );
        let metadata = "[package.metadata.docs.rs]\nall-features = true\nrustdoc-args = [\"--cfg\", \"docsrs\"]\n";
        assert!(manifest.contains(metadata), "{folder}/Cargo.toml");
    }
    assert!(crates > 10, "{crates}");
}

/// Returns the name of each feature and whether it is on by default, as a table has them.
fn expected(features: &BTreeMap<String, (bool, Vec<String>)>) -> Vec<(String, String)> {
    let cells = features.iter().map(|(name, (is_default, _))| {
        let default = if *is_default { "yes" } else { "no" };
        (format!("`{name}`"), default.to_owned())
    });
    sorted(cells.collect())
}
