//! The folders below a path, each with a `SKILL.md`:
//!
//! ```text
//! dir!("skills/")
//! ```
//!
//! The folders are read while the program is compiled. Files that are no text, hidden files and links are left out.

mod header;

use super::{all, rest, rt};
use crate::{
    ast::{Dir, Folder},
    diag::Errors,
    messages,
    paths::Rt,
};
use proc_macro2::TokenStream;
use std::{
    fs,
    path::{Component, Path},
};
use syn::{LitStr, Token, parse::ParseStream};

/// The name of the file with the header and the instructions.
const FILE: &str = "SKILL.md";
/// Maximum size of a text, in bytes. A model reads it as a whole.
const MOST_BYTES: usize = 256 * 1024;
/// Maximum depth of folders within a folder of knowledge.
const DEEPEST: usize = 8;

/// Reads `dir!("skills/")`, and the path to the runtime. The path is relative to `root`.
pub(crate) fn dir(tokens: TokenStream, root: &Path, errors: &Errors) -> Option<(Rt, Dir)> {
    let path = |input: ParseStream<'_>| {
        let rt = rt(input)?;
        if !input.peek(LitStr) {
            return Err(input.error(messages::DIR_WANTS_PATH));
        }
        let path: LitStr = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        Ok((rt, path))
    };
    let (rt, path) = all(tokens, errors, |input| {
        let path = errors.ok(path(input));
        if path.is_none() {
            rest(input);
        }
        path
    })??;
    let folders = Reading {
        literal: &path,
        root,
        errors,
    }
    .folders()?;
    let dir = Dir {
        literal: path.token(),
        folders,
    };
    Some((rt, dir))
}

/// The folder that is read, with the literal at which mistakes are reported.
struct Reading<'a> {
    literal: &'a LitStr,
    root: &'a Path,
    errors: &'a Errors,
}

impl Reading<'_> {
    fn say(&self, message: String) {
        self.errors
            .push(syn::Error::new_spanned(self.literal, message));
    }

    /// Reads all folders directly in the path, in the order of their names. A folder with a mistake is reported and
    /// left out. `None` if the path leads to no such folders, which is reported.
    fn folders(&self) -> Option<Vec<Folder>> {
        let written = self.literal.value();
        let path = written.trim_end_matches('/');
        let is_elsewhere =
            |part: Component<'_>| matches!(part, Component::Prefix(_) | Component::RootDir);
        if path.is_empty() && !written.is_empty() || Path::new(path).components().any(is_elsewhere)
        {
            self.say(messages::dir_of_this_machine(&written));
            return None;
        }
        if path.is_empty() {
            self.say(messages::DIR_WANTS_PATH.to_owned());
            return None;
        }
        if !self.root.join(path).is_dir() {
            self.say(messages::no_dir(path));
            return None;
        }
        let entries = self.entries(path)?;
        if entries.iter().any(|(name, _)| name == FILE) {
            let around = path.rsplit_once('/').map_or("..", |(around, _)| around);
            self.say(messages::dir_is_one(path, around));
            return None;
        }
        let mut names = entries
            .into_iter()
            .filter(|(_, is_folder)| *is_folder)
            .peekable();
        if names.peek().is_none() {
            self.say(messages::nothing_in_dir(path));
            return None;
        }
        let folders = names.filter_map(|(name, _)| self.folder(format!("{path}/{name}"), name));
        Some(folders.collect())
    }

    fn folder(&self, path: String, name: String) -> Option<Folder> {
        let entries = self.entries(&path)?;
        if !entries
            .iter()
            .any(|(name, is_folder)| name == FILE && !is_folder)
        {
            let is_like = |name: &str| name.eq_ignore_ascii_case(FILE);
            let found = entries.iter().find(|(name, _)| is_like(name));
            self.say(match found {
                Some((found, _)) => messages::misnamed_skill_file(&path, found),
                None => messages::no_skill_file(&path),
            });
            return None;
        }
        let place = format!("{path}/{FILE}");
        let bytes = self.bytes(&place)?;
        let Some(text) = self.text(&place, bytes) else {
            self.say(messages::not_text(&place));
            return None;
        };
        let mut files = Vec::new();
        self.collect(&path, "", entries, 0, &mut files);
        let (header, body) = header::read(&text, &place, &mut |message| self.say(message))?;
        Some(Folder {
            is_empty: body.trim().is_empty(),
            name,
            place,
            header,
            files,
        })
    }

    /// Collects the texts in a folder of knowledge. `below` is the way from that folder, with a slash at its end.
    fn collect(
        &self,
        path: &str,
        below: &str,
        entries: Vec<(String, bool)>,
        depth: usize,
        files: &mut Vec<String>,
    ) {
        for (name, is_folder) in entries {
            let file = format!("{below}{name}");
            let place = format!("{path}/{file}");
            if is_folder && depth == DEEPEST {
                self.say(messages::too_deep(&place));
            } else if is_folder {
                let entries = self.entries(&place).unwrap_or_default();
                self.collect(path, &format!("{file}/"), entries, depth + 1, files);
            } else if file != FILE {
                let bytes = self.bytes(&place);
                let is_text = bytes.and_then(|bytes| self.text(&place, bytes)).is_some();
                files.extend(is_text.then_some(file));
            }
        }
    }

    /// Returns the names in a folder, sorted, each with `true` if it names a folder. Links, hidden entries and names
    /// that are no UTF-8 are left out. `None` if the folder cannot be read, which is reported.
    fn entries(&self, path: &str) -> Option<Vec<(String, bool)>> {
        let read = || -> std::io::Result<Vec<(String, bool)>> {
            let mut found: Vec<(String, bool)> = Vec::new();
            for entry in fs::read_dir(self.root.join(path))? {
                let entry = entry?;
                let kind = entry.file_type()?;
                let name = entry.file_name().into_string();
                if let Ok(name) = name
                    && !name.starts_with('.')
                    && !kind.is_symlink()
                {
                    let place = found.partition_point(|(before, _)| *before < name);
                    found.insert(place, (name, kind.is_dir()));
                }
            }
            Ok(found)
        };
        let entries = read();
        entries
            .map_err(|error| self.say(messages::unreadable(path, &error)))
            .ok()
    }

    fn bytes(&self, place: &str) -> Option<Vec<u8>> {
        let bytes = fs::read(self.root.join(place));
        bytes
            .map_err(|error| self.say(messages::unreadable(place, &error)))
            .ok()
    }

    /// Returns the bytes of a file as text; `None` if they are no text. A text that is too large is reported, and
    /// returned all the same.
    fn text(&self, place: &str, bytes: Vec<u8>) -> Option<String> {
        let text = String::from_utf8(bytes).ok();
        let text = text.filter(|text| !text.contains('\0'))?;
        if text.len() > MOST_BYTES {
            self.say(messages::too_large(place, text.len(), MOST_BYTES));
        }
        Some(text)
    }
}
