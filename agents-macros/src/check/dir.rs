//! The rules for headers of `SKILL.md` files, which are those of the convention.

use crate::{
    ast::{Dir, Field, Folder},
    diag::Errors,
    messages,
};

/// Maximum lengths, in characters.
const MOST_OF_NAME: usize = 64;
const MOST_OF_DESCRIPTION: usize = 1024;
const MOST_OF_COMPATIBILITY: usize = 500;

/// Checks the headers of all folders.
pub(crate) fn dir(dir: &Dir, errors: &Errors) {
    for folder in &dir.folders {
        let say = |message: String| errors.at(&dir.literal, message);
        name(folder, say);
        description(folder, say);
        if let Some(field) = folder.header.get("compatibility") {
            length(folder, field, MOST_OF_COMPATIBILITY, &say);
        }
        if folder.is_empty {
            say(messages::nothing_below_header(&folder.place));
        }
    }
}

/// Checks `name: pdf-forms`: there, against no rule, and the name of its folder.
fn name(folder: &Folder, say: impl Fn(String)) {
    let Folder { place, header, .. } = folder;
    let Some(field) = header.get("name") else {
        return say(messages::field_missing(place, "name", &folder.name));
    };
    let line = field.line;
    let Some(value) = length(folder, field, MOST_OF_NAME, &say) else {
        return;
    };
    let is_sign = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '-';
    let fits = value.chars().all(is_sign)
        && !value.is_empty()
        && !value.starts_with('-')
        && !value.ends_with('-')
        && !value.contains("--");
    if !fits {
        say(messages::name_against_rules(place, line, value));
    } else if value != folder.name {
        say(messages::name_of_another_folder(
            place,
            line,
            value,
            &folder.name,
        ));
    }
}

/// Checks `description: Fills forms.`: there, and not too long.
fn description(folder: &Folder, say: impl Fn(String)) {
    let Folder { place, header, .. } = folder;
    let example = "what it is about, and when to read it";
    match header.get("description") {
        Some(field) if field.value.as_deref() != Some("") => {
            length(folder, field, MOST_OF_DESCRIPTION, &say);
        }
        _ => say(messages::field_missing(place, "description", example)),
    }
}

/// Returns a value that is read and not too long. One that is too long is reported.
fn length<'f>(
    folder: &Folder,
    field: &'f Field,
    most: usize,
    say: &impl Fn(String),
) -> Option<&'f str> {
    let Field { key, value, line } = field;
    let value = value.as_deref()?;
    let length = value.chars().count();
    if length > most {
        let message = messages::field_too_long(&folder.place, *line, key, length, most);
        say(message);
        return None;
    }
    Some(value)
}
