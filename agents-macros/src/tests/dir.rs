//! `dir!`: folders with a `SKILL.md`, read from a folder that each test makes.

use super::{messages, tokens};
use crate::expression_dir;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

/// A folder that is removed at the end of its test.
struct Root(PathBuf);

impl Root {
    fn with(files: &[(&str, &str)]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "agents-dir-{}-{}",
            process::id(),
            COUNT.fetch_add(1, SeqCst)
        );
        let root = Root(env::temp_dir().join(name));
        for (path, text) in files {
            root.write(path, text.as_bytes());
        }
        root
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for the test");
        fs::write(path, bytes).expect("a file for the test");
    }

    /// Returns the messages about `dir!("skills/")`.
    fn messages(&self) -> Vec<String> {
        said(&self.0, "\"skills/\"")
    }

    fn expansion(&self) -> String {
        expression_dir(tokens("\"skills/\""), &self.0)
            .to_string()
            .replace(' ', "")
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(root: &Path, source: &str) -> Vec<String> {
    let expansion = expression_dir(tokens(source), root);
    let unquoted = |text: String| text.trim_matches('"').replace("\\\"", "\"");
    messages(&expansion).into_iter().map(unquoted).collect()
}

/// Returns the messages about a `SKILL.md` in the folder `pdf`.
fn about(text: &str) -> Vec<String> {
    Root::with(&[("skills/pdf/SKILL.md", text)]).messages()
}

/// Returns the description that is read from a header.
fn described(written: &str) -> String {
    let text = format!("---\nname: pdf\ndescription: {written}\n---\nBody.");
    let root = Root::with(&[("skills/pdf/SKILL.md", &text)]);
    assert_eq!(root.messages(), Vec::<String>::new(), "{written}");
    let expansion = expression_dir(tokens("\"skills\""), &root.0).to_string();
    let (_, rest) = expansion.split_once("\"pdf\" , ").expect("a name");
    let (described, _) = rest.split_once(" , :: core").expect("a description");
    described.to_owned()
}

#[test]
fn each_folder_becomes_a_call_with_its_further_files() {
    let root = Root::with(&[
        (
            "skills/zip/SKILL.md",
            "---\nname: zip\ndescription: Zips.\n---\nZip it.",
        ),
        (
            "skills/pdf-forms/SKILL.md",
            "---\nname: pdf-forms\ndescription: Fills forms.\nlicense: MIT\nmetadata:\n  by: us\n---\n\nFill.\n",
        ),
        ("skills/pdf-forms/references/fields.md", "Fields."),
        ("skills/pdf-forms/scripts/fill.py", "print()"),
        ("skills/pdf-forms/.hidden", "no"),
        ("skills/.git/config", "no"),
        ("skills/README.md", "For people."),
    ]);
    root.write("skills/pdf-forms/logo.png", &[0x89, b'P', 0xff, 0]);
    let expansion = root.expansion();
    let first = expansion.find("pdf-forms/SKILL.md").expect("the first");
    assert!(first < expansion.find("zip/SKILL.md").expect("the second"));
    assert!(expansion.contains(
        r#"KnowledgeFolder::new("pdf-forms","Fillsforms.",::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"),"/","skills/pdf-forms/SKILL.md")))"#
    ), "{expansion}");
    assert!(expansion.contains(r#".file("references/fields.md",::core::include_str!"#));
    assert!(expansion.contains(r#".file("scripts/fill.py""#));
    for left_out in ["hidden", "git", "README", "png"] {
        assert!(!expansion.contains(left_out), "{left_out}: {expansion}");
    }
}

#[test]
fn values_are_read_as_yaml_reads_them() {
    for (written, read) in [
        ("Fills forms.", "\"Fills forms.\""),
        ("Fills forms. # for us", "\"Fills forms.\""),
        (
            "\"Use when: \\\"asked\\\" # no comment\" # one",
            "\"Use when: \\\"asked\\\" # no comment\"",
        ),
        ("'It''s \\ one'", "\"It's \\\\ one\""),
        ("Fills\n  forms.\n  And more.", "\"Fills forms. And more.\""),
        (
            ">-\n  Fills\n  forms.\n\n  More.",
            "\"Fills forms.\\nMore.\"",
        ),
        ("|\n  One.\n    Two.", "\"One.\\n  Two.\""),
        (
            "http://example.com is read",
            "\"http://example.com is read\"",
        ),
    ] {
        assert_eq!(described(written), read, "{written}");
    }
    // Carriage returns and a byte order mark are no part of a value.
    assert_eq!(
        about("\u{feff}---\r\nname: pdf\r\ndescription: Fills.\r\n---\r\nBody.\r\n"),
        Vec::<String>::new()
    );
}

#[test]
fn each_mistake_in_a_header_names_its_file_its_line_and_its_remedy() {
    for (text, says) in [
        (
            "Fill it.",
            "`skills/pdf/SKILL.md` has no header; begin it with the lines `---`",
        ),
        ("", "has no header"),
        (
            "---\nname: pdf\n",
            "the header of `skills/pdf/SKILL.md` does not end; write a line `---`",
        ),
        (
            "---\ndescription: Fills.\n---\nB",
            "lacks `name`; add a line `name: pdf`",
        ),
        (
            "---\nname: pdf\n---\nB",
            "lacks `description`; add a line `description: ",
        ),
        (
            "---\nname: pdf\ndescription:\n---\nB",
            "lacks `description`",
        ),
        (
            "---\nname: pdf\ndescription: \"\"\n---\nB",
            "lacks `description`",
        ),
        (
            "---\nname: PDF\ndescription: F.\n---\nB",
            "line 2: `PDF` is no name; write small letters",
        ),
        (
            "---\n# a\nname: pdf--x\ndescription: F.\n---\nB",
            "line 3: `pdf--x` is no name",
        ),
        (
            "---\nname: -pdf\ndescription: F.\n---\nB",
            "`-pdf` is no name",
        ),
        (
            "---\nname: pdf_x\ndescription: F.\n---\nB",
            "`pdf_x` is no name",
        ),
        ("---\nname:\ndescription: F.\n---\nB", "`` is no name"),
        (
            "---\nname: forms\ndescription: F.\n---\nB",
            "line 2: `forms` is not the name of its folder; write `name: pdf`",
        ),
        (
            "---\nname: pdf\nname: pdf\ndescription: F.\n---\nB",
            "line 3: `name` is said twice",
        ),
        (
            "---\nname: pdf\ndescription: Use when: asked\n---\nB",
            "line 3: the value of `description` means something else in YAML; write it in double quotes",
        ),
        (
            "---\nname: [pdf]\ndescription: F.\n---\nB",
            "line 2: the value of `name` means something else",
        ),
        (
            "---\nname: pdf\ndescription: \"F\n---\nB",
            "line 3: the quotes of `description` do not end",
        ),
        (
            "---\nname: pdf\ndescription: \"F\" x\n---\nB",
            "the quotes of `description` do not end",
        ),
        (
            "---\nname: pdf\ndescription: \"\\q\"\n---\nB",
            "an escape in `description` is not known",
        ),
        (
            "---\nname: pdf\ndescription F.\n---\nB",
            "line 3: `description F.` is no `key: value`",
        ),
        (
            "---\nname: pdf\n\tdescription: F.\n---\nB",
            "line 3: a header is not indented by tabs",
        ),
        (
            "---\nname: pdf\ndescription: F.\n---\n \n",
            "has no text below its header",
        ),
    ] {
        let said = about(text);
        assert!(
            said.iter().any(|one| one.contains(says)),
            "{text:?}: {said:#?}"
        );
        assert!(said.len() <= 2, "{text:?}: {said:#?}");
    }
    let long = |key: &str, length: usize| {
        let value = "é".repeat(length);
        match key {
            "description" => format!("---\nname: pdf\ndescription: {value}\n---\nB"),
            _ => format!("---\nname: pdf\ndescription: F.\n{key}: {value}\n---\nB"),
        }
    };
    for (key, most) in [("description", 1024), ("compatibility", 500)] {
        assert_eq!(about(&long(key, most)), Vec::<String>::new());
        let said = about(&long(key, most + 1));
        assert!(
            said[0].contains(&format!(
                "`{key}` has {} characters, and may have {most}",
                most + 1
            )),
            "{said:?}"
        );
    }
    let name = "a".repeat(65);
    let text = format!("---\nname: {name}\ndescription: F.\n---\nB");
    let said = Root::with(&[(&*format!("skills/{name}/SKILL.md"), &*text)]).messages();
    assert!(
        said[0].contains("`name` has 65 characters, and may have 64"),
        "{said:?}"
    );
}

#[test]
fn all_mistakes_are_told_at_once() {
    let root = Root::with(&[
        ("skills/one/SKILL.md", "no header"),
        ("skills/two/SKILL.md", "---\nname: 2\n---\n"),
        ("skills/three/README.md", "no such file"),
        ("skills/four/skill.md", "---\n"),
    ]);
    root.write("skills/five/SKILL.md", &[0xff, 0xfe]);
    let said = root.messages();
    for (says, of) in [
        ("has no header", "one"),
        ("lacks `description`", "two"),
        ("is not the name of its folder", "two"),
        ("has no text below", "two"),
        ("has no `SKILL.md`", "three"),
        ("is to be called `SKILL.md`", "four"),
        ("is no text in UTF-8", "five"),
    ] {
        let place = format!("skills/{of}");
        assert!(
            said.iter()
                .any(|one| one.contains(says) && one.contains(&place)),
            "{says}: {said:#?}"
        );
    }
    assert_eq!(said.len(), 7, "{said:#?}");
}

#[test]
fn the_path_has_to_be_a_folder_with_such_folders() {
    let root = Root::with(&[
        (
            "skills/pdf/SKILL.md",
            "---\nname: pdf\ndescription: F.\n---\nB",
        ),
        ("empty/README.md", ""),
    ]);
    for (source, says) in [
        ("", "takes the path of a folder"),
        ("SKILLS", "takes the path of a folder"),
        ("\"\"", "takes the path of a folder"),
        ("\"skills/\" \"more/\"", "nothing is expected here"),
        ("\"/etc\"", "is a path of this machine"),
        ("\"/\"", "is a path of this machine"),
        (
            "\"skils/\"",
            "there is no folder `skils` beside `Cargo.toml`",
        ),
        ("\"skills/pdf/SKILL.md\"", "there is no folder"),
        (
            "\"skills/pdf\"",
            "is itself a folder of knowledge; name the folder around it: `dir!(\"skills\")`",
        ),
        ("\"empty\"", "`empty` has no folder with a `SKILL.md`"),
    ] {
        let said = said(&root.0, source);
        assert!(
            said.len() == 1 && said[0].contains(says),
            "{source}: {said:#?}"
        );
    }
    assert!(said(&root.0, "\"./skills//\",").is_empty());
}

#[test]
fn large_texts_deep_folders_and_links_do_no_harm() {
    let header = "---\nname: pdf\ndescription: F.\n---\n";
    let large = format!("{header}{}", "x".repeat(300_000));
    let said = about(&large);
    assert!(
        said[0].contains("a model is given at most 262144"),
        "{said:?}"
    );

    let deep = format!("skills/pdf/{}a.md", "d/".repeat(12));
    let root = Root::with(&[("skills/pdf/SKILL.md", &format!("{header}B")), (&deep, "a")]);
    assert!(
        root.messages()[0].contains("is too deep"),
        "{:?}",
        root.messages()
    );

    #[cfg(unix)]
    {
        let root = Root::with(&[("skills/pdf/SKILL.md", &format!("{header}B"))]);
        std::os::unix::fs::symlink(&root.0, root.0.join("skills/pdf/loop")).expect("a link");
        std::os::unix::fs::symlink("/etc/passwd", root.0.join("skills/pdf/users.md"))
            .expect("a link");
        assert_eq!(root.messages(), Vec::<String>::new());
        assert!(
            !root.expansion().contains("users.md"),
            "what is linked may be anybody's"
        );
    }
}
