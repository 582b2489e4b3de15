//! The rules for headers of `SKILL.md` files, which are those of the convention.

use crate::{
    ast::{Dir, Field, Folder},
    diag::Errors,
    messages,
};

/// Maximum length of a `name` in characters. The two constants below are those of the other keys.
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

/// Checks that the header has a `name: pdf-forms` that breaks no rule and is the name of the folder.
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

/// Checks that the header has a `description: Fills forms.` that is not too long.
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

/// Returns the value of a field; `None` if it was written wrongly, or is too long. A value that is too long is
/// reported.
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
