//! `dir!("skills/")`: a path, and what stands below it on disk.

use proc_macro2::Literal;

/// The input of `dir!`, with the folders that were found.
pub(crate) struct Dir {
    /// The path, as it is written.
    pub(crate) literal: Literal,
    pub(crate) folders: Vec<Folder>,
}

/// A folder with a `SKILL.md`.
pub(crate) struct Folder {
    /// The name of the folder on disk.
    pub(crate) name: String,
    /// The path of the `SKILL.md`, as messages and the code name it.
    pub(crate) place: String,
    pub(crate) header: Header,
    /// Is `true` if there is no text below the header.
    pub(crate) is_empty: bool,
    /// Paths of further texts, relative to this folder.
    pub(crate) files: Vec<String>,
}

/// The header of a `SKILL.md`: the values of the keys that are read.
pub(crate) struct Header {
    pub(crate) fields: Vec<Field>,
}

/// A value of a header.
pub(crate) struct Field {
    pub(crate) key: String,
    /// The value; `None` if it is written wrongly, which is reported.
    pub(crate) value: Option<String>,
    /// The line of the key, from 1.
    pub(crate) line: usize,
}

impl Header {
    /// The keys that are read. All others are for other programs.
    pub(crate) const KEYS: [&str; 3] = ["name", "description", "compatibility"];

    /// Returns the value of a key; `None` if the header lacks the key.
    pub(crate) fn get(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.key == key)
    }
}
