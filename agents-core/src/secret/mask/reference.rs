//! References: texts that stand for secrets in a journal.
//!
//! A reference consists of a private character, the spelling of the value, the scope, the name and the version of the
//! secret, and another private character. No other text can be taken for a reference, because a private character in
//! other text is marked.

use crate::secret::SecretScope;
use std::{borrow::Cow, fmt};

/// Private character that begins a reference to a secret in a stored text.
pub(super) const OPEN: char = '\u{E000}';
/// Private character that ends a reference to a secret in a stored text.
pub(super) const CLOSE: char = '\u{E001}';
/// Mark behind an opening character that belongs to the text itself, and begins no reference.
pub(super) const ITSELF: char = '\u{E002}';

/// Maximum depth of JSON text within JSON text at which secrets still get references; deeper ones are masked.
pub(super) const LEVELS: usize = 4;

/// Identity of a secret in a stored text: whose it is, its name, and its version if its source has versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reference {
    pub(crate) scope: SecretScope,
    pub(crate) name: String,
    pub(crate) version: Option<String>,
}

/// Form in which the secret's value stood where a reference stands now, so that it can be restored.
#[derive(Clone, Copy)]
pub(super) enum Spelling {
    /// The value stood in the text of a JSON string, escaped this number of times.
    Escaped(usize),
    /// The secret stood as a JSON number, without quotes.
    Number,
    /// The value stood in another encoding, and stays hidden for good.
    Other,
}

impl Reference {
    /// Returns the text of the reference, as it is stored within JSON.
    pub(super) fn written(&self, spelling: Spelling) -> String {
        let spelling = match spelling {
            Spelling::Escaped(level) => level.to_string(),
            Spelling::Number => "n".to_owned(),
            Spelling::Other => "?".to_owned(),
        };
        let scope = match self.scope {
            SecretScope::Run => "run",
            SecretScope::User => "user",
            SecretScope::Workspace => "workspace",
            SecretScope::Org => "org",
        };
        let name = encoded(&self.name);
        let version = self.version.iter().map(|version| encoded(version));
        let parts = [spelling, scope.to_owned(), name];
        let parts: Vec<_> = parts.into_iter().chain(version).collect();
        format!("{OPEN}{}{CLOSE}", parts.join("|"))
    }

    /// Reads the text of a reference between its private characters; `None` if the text is no reference.
    pub(super) fn read(text: &str) -> Option<(Spelling, Reference)> {
        let mut parts = text.split('|');
        let spelling = match parts.next()? {
            "n" => Spelling::Number,
            "?" => Spelling::Other,
            level => Spelling::Escaped(level.parse().ok().filter(|level| *level <= LEVELS)?),
        };
        let scope = match parts.next()? {
            "run" => SecretScope::Run,
            "user" => SecretScope::User,
            "workspace" => SecretScope::Workspace,
            "org" => SecretScope::Org,
            _ => return None,
        };
        let reference = Reference {
            scope,
            name: decoded(parts.next()?)?,
            version: parts
                .next()
                .map(decoded)
                .map_or(Some(None), |v| v.map(Some))?,
        };
        Some((spelling, reference))
    }

    /// Returns the text that people and models see in place of the reference.
    pub(super) fn shown(&self) -> String {
        match self.name.is_empty() {
            true => "[***]".to_owned(),
            false => named(&self.name),
        }
    }
}

/// Returns the text that is shown in place of a secret of this name.
pub(super) fn named(name: &str) -> String {
    let plain = |c: char| match c.is_alphanumeric() || matches!(c, '_' | '-' | '.') {
        true => c,
        false => '_',
    };
    let name: String = name.chars().map(plain).collect();
    format!("[secret:{name}]")
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.is_empty() {
            true => f.write_str("without a name")?,
            false => write!(f, "`{}`", self.name)?,
        }
        write!(f, " of the {}", self.scope)?;
        match &self.version {
            Some(version) => write!(f, " (version `{version}`)"),
            None => Ok(()),
        }
    }
}

/// Returns a secret's name in a spelling that needs no escapes in JSON.
fn encoded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c.is_alphanumeric() || matches!(c, '_' | '-' | '.') {
            true => out.push(c),
            false => out.push_str(&format!("{{{:x}}}", u32::from(c))),
        }
    }
    out
}

fn decoded(mut name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    while let Some((plain, rest)) = name.split_once('{') {
        let (code, rest) = rest.split_once('}')?;
        out.push_str(plain);
        out.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
        name = rest;
    }
    Some(out + name)
}

/// Part of a stored text: plain text, or a reference to a secret.
pub(super) enum Part<'a> {
    /// Plain text, without references to secrets.
    Text(&'a str),
    /// An opening character that is a part of the text itself.
    Open,
    /// The text of a reference, between the private characters.
    Reference(&'a str),
}

/// Splits a stored text at its references.
pub(super) fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || match rest.find(OPEN) {
        _ if rest.is_empty() => None,
        Some(0) => {
            let behind = &rest[OPEN.len_utf8()..];
            if let Some(behind) = behind.strip_prefix(ITSELF) {
                rest = behind;
                return Some(Part::Open);
            }
            let (reference, behind) = behind.split_once(CLOSE).unwrap_or((behind, ""));
            rest = behind;
            Some(Part::Reference(reference))
        }
        at => {
            let (plain, behind) = rest.split_at(at.unwrap_or(rest.len()));
            rest = behind;
            Some(Part::Text(plain))
        }
    })
}

/// Returns the identities of all secrets to which a text has references, each once, in the order of the text.
pub(crate) fn references(text: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    for part in parts(text) {
        if let Part::Reference(text) = part
            && let Some((_, reference)) = Reference::read(text)
            && !found.contains(&reference)
        {
            found.push(reference);
        }
    }
    found
}

/// Returns JSON text as people may see it: each reference is replaced by `[secret:name]`, or by `[***]` if it has no
/// name.
pub(crate) fn shown(json: &str) -> Cow<'_, str> {
    if !json.contains(OPEN) {
        return Cow::Borrowed(json);
    }
    let shown = parts(json).map(|part| match part {
        Part::Text(text) => Cow::Borrowed(text),
        Part::Open => Cow::Owned(OPEN.to_string()),
        Part::Reference(text) => {
            let read = Reference::read(text);
            Cow::Owned(read.map_or_else(|| "[***]".to_owned(), |(_, name)| name.shown()))
        }
    });
    Cow::Owned(shown.collect())
}
