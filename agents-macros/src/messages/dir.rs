//! Texts about `dir!`: folders with a `SKILL.md`, and their headers.
//!
//! A `place` is the path of a file as the user has begun it, `skills/pdf/SKILL.md`.

use std::fmt::Display;

pub(crate) const DIR_WANTS_PATH: &str =
    "`dir!` takes the path of a folder beside `Cargo.toml`: write `dir!(\"skills/\")`";

pub(crate) fn dir_of_this_machine(path: &str) -> String {
    format!(
        "`{path}` is a path of this machine; write it relative to the folder of `Cargo.toml`, as in `dir!(\"skills/\")`"
    )
}

pub(crate) fn no_dir(path: &str) -> String {
    format!("there is no folder `{path}` beside `Cargo.toml`; create it, or correct the path")
}

pub(crate) fn unreadable(place: &str, error: &impl Display) -> String {
    format!("`{place}` cannot be read: {error}; correct that, or remove it")
}

pub(crate) fn nothing_in_dir(path: &str) -> String {
    format!(
        "`{path}` has no folder with a `SKILL.md`; give each piece of knowledge a folder of its own, with such a file"
    )
}

pub(crate) fn dir_is_one(path: &str, around: &str) -> String {
    format!(
        "`{path}` is itself a folder of knowledge; name the folder around it: `dir!(\"{around}\")`"
    )
}

pub(crate) fn no_skill_file(folder: &str) -> String {
    format!("`{folder}` has no `SKILL.md`; write one, or move the folder elsewhere")
}

pub(crate) fn misnamed_skill_file(folder: &str, found: &str) -> String {
    format!("`{folder}/{found}` is to be called `SKILL.md`, in capitals; rename it")
}

pub(crate) fn too_deep(folder: &str) -> String {
    format!("`{folder}` is too deep in its folder; move its files up")
}

pub(crate) fn too_large(place: &str, bytes: usize, most: usize) -> String {
    format!(
        "`{place}` has {bytes} bytes, and a model is given at most {most}; shorten it, or split it into several files"
    )
}

pub(crate) fn not_text(place: &str) -> String {
    format!("`{place}` is no text in UTF-8; store it as UTF-8")
}

// ---- headers ----

pub(crate) fn no_header(place: &str) -> String {
    format!(
        "`{place}` has no header; begin it with the lines `---`, `name: ..`, `description: ..` and `---`"
    )
}

pub(crate) fn header_without_end(place: &str) -> String {
    format!("the header of `{place}` does not end; write a line `---` below it")
}

pub(crate) fn no_pair(place: &str, line: usize, found: &str) -> String {
    format!("`{place}`, line {line}: `{found}` is no `key: value`; correct it, or indent it")
}

pub(crate) fn tab_in_header(place: &str, line: usize) -> String {
    format!("`{place}`, line {line}: a header is not indented by tabs; write spaces")
}

pub(crate) fn wants_quotes(place: &str, line: usize, key: &str) -> String {
    format!(
        "`{place}`, line {line}: the value of `{key}` means something else in YAML; write it in double quotes"
    )
}

pub(crate) fn quotes_without_end(place: &str, line: usize, key: &str) -> String {
    format!("`{place}`, line {line}: the quotes of `{key}` do not end with the value; correct them")
}

pub(crate) fn unknown_escape(place: &str, line: usize, key: &str) -> String {
    format!(
        "`{place}`, line {line}: an escape in `{key}` is not known; write `\\\\` for a backslash, or use single quotes"
    )
}

pub(crate) fn field_twice(place: &str, line: usize, key: &str) -> String {
    format!("`{place}`, line {line}: `{key}` is said twice; remove one")
}

pub(crate) fn field_missing(place: &str, key: &str, example: &str) -> String {
    format!("`{place}`: the header lacks `{key}`; add a line `{key}: {example}`")
}

pub(crate) fn field_too_long(
    place: &str,
    line: usize,
    key: &str,
    length: usize,
    most: usize,
) -> String {
    format!(
        "`{place}`, line {line}: `{key}` has {length} characters, and may have {most}; shorten it"
    )
}

pub(crate) fn name_against_rules(place: &str, line: usize, name: &str) -> String {
    format!(
        "`{place}`, line {line}: `{name}` is no name; write small letters, digits and single hyphens between them, and rename the folder"
    )
}

pub(crate) fn name_of_another_folder(place: &str, line: usize, name: &str, folder: &str) -> String {
    format!(
        "`{place}`, line {line}: `{name}` is not the name of its folder; write `name: {folder}`, or rename the folder"
    )
}

pub(crate) fn nothing_below_header(place: &str) -> String {
    format!("`{place}` has no text below its header; write there what the model is to know")
}
