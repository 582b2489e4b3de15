use super::{
    MIN_SECRET_CHARS, base64,
    heads::Heads,
    spelling::{Found, spelled},
};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use std::{borrow::Cow, sync::Arc};

/// Secrets that a masker knows, with their spellings.
#[derive(Default)]
pub(super) struct Known {
    secrets: Vec<Arc<Spellings>>,
    heads: Heads,
}

/// Secret with its placeholder and the texts to look for.
struct Spellings {
    placeholder: String,
    plain: Vec<SecretString>,
    /// Parts of the value within base64; the flag is `true` if the next character belongs to the
    /// value in part.
    base64: Vec<(SecretString, bool)>,
    /// Is `true` if the value consists of digits, so that it could stand in JSON as a number.
    digits: bool,
}

/// Result of the search for secrets at one place of a text.
pub(super) enum At<'a> {
    Nothing,
    /// A secret may begin here, but the text ends before that is certain.
    Open,
    /// A secret reaches from here to `end` and is replaced by `instead`. If `open`, more text could
    /// make it a longer secret.
    Secret {
        end: usize,
        instead: &'a str,
        open: bool,
    },
}

impl Known {
    /// Returns these secrets and one more; `None` if the value is known already.
    pub(super) fn and(&self, name: &str, value: &str) -> Option<Known> {
        let knows = |secret: &Arc<Spellings>| secret.plain[0].expose_secret() == value;
        if self.secrets.iter().any(knows) {
            return None;
        }
        let mut secrets = self.secrets.clone();
        secrets.push(Arc::new(Spellings::new(name, value)));
        Some(Known::from(secrets))
    }

    fn from(secrets: Vec<Arc<Spellings>>) -> Known {
        let patterns = secrets.iter().flat_map(|secret| secret.patterns());
        let heads = Heads::of(patterns.map(ExposeSecret::expose_secret));
        Known { secrets, heads }
    }

    pub(super) fn len(&self) -> usize {
        self.secrets.len()
    }

    /// Returns the value for which this placeholder stands.
    pub(super) fn value(&self, placeholder: &str) -> Option<&str> {
        let mut secrets = self.secrets.iter();
        let secret = secrets.find(|secret| secret.placeholder == placeholder)?;
        Some(secret.plain[0].expose_secret())
    }

    /// Returns each secret alone.
    fn each(&self) -> impl Iterator<Item = Known> {
        let one = |secret: &Arc<Spellings>| Known::from(vec![secret.clone()]);
        self.secrets.iter().map(one)
    }

    /// Returns the longest secret that begins here.
    pub(super) fn at(&self, text: &str, at: usize) -> At<'_> {
        let bytes = text.as_bytes();
        if !self.heads.may_begin(bytes[at]) {
            return At::Nothing;
        }
        let (mut best, mut open) = (None, false);
        for secret in &self.secrets {
            let mut consider = |found, ragged: bool| match found {
                Found::No => {}
                Found::Open => open = true,
                Found::To(end) => {
                    let end = match ragged {
                        true => end + base64::rest(&text[end..]),
                        false => end,
                    };
                    if best.is_none_or(|(longest, _)| end > longest) {
                        best = Some((end, secret.placeholder.as_str()));
                    }
                }
            };
            for plain in &secret.plain {
                consider(spelled(bytes, at, plain.expose_secret()), false);
            }
            for (core, ragged) in &secret.base64 {
                consider(spelled(bytes, at, core.expose_secret()), *ragged);
            }
        }
        match best {
            Some((end, instead)) => At::Secret {
                end,
                instead,
                open: open || end == text.len(),
            },
            None if open => At::Open,
            None => At::Nothing,
        }
    }

    /// Returns `true` if the text holds a secret. If not, the functions below do not change the
    /// text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let mut from = 0;
        while let Some(at) = self.heads.next(bytes, from) {
            if matches!(self.at(text, at), At::Secret { .. }) {
                return true;
            }
            from = self.heads.past(bytes, at);
        }
        false
    }

    /// Returns the text without secrets.
    pub(super) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.masked(text, |_| 1)
    }

    /// Returns JSON as text without secrets, also those that reach over several strings; it may no
    /// longer be valid JSON.
    pub(super) fn across<'a>(&self, json: &'a str) -> Cow<'a, str> {
        self.masked(json, escape)
    }

    /// Replaces the secrets of a text. `step` returns the number of bytes to skip together where no
    /// secret was found.
    fn masked<'a>(&self, text: &'a str, step: impl Fn(&[u8]) -> usize) -> Cow<'a, str> {
        let (mut out, mut copied, mut at) = (String::new(), 0, 0);
        while at < text.len() {
            match self.at(text, at) {
                At::Secret { end, instead, .. } => {
                    out.push_str(&text[copied..at]);
                    out.push_str(instead);
                    copied = end;
                    at = end;
                }
                At::Nothing | At::Open => at += step(&text.as_bytes()[at..]),
            }
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[copied..]);
        Cow::Owned(out)
    }

    /// Returns JSON without secrets in its strings and keys and, if `numbers`, in its numbers. The
    /// result is valid JSON.
    pub(super) fn json<'a>(&self, json: &'a str, numbers: bool) -> Cow<'a, str> {
        let (mut out, mut copied, mut at) = (String::new(), 0, 0);
        let bytes = json.as_bytes();
        while at < bytes.len() {
            let (end, masked) = match bytes[at] {
                b'"' => {
                    let end = at + 1 + string(&bytes[at + 1..]);
                    // Escapes are skipped as a whole, so that the rest of the string stays
                    // readable.
                    match self.masked(&json[at + 1..end], escape) {
                        Cow::Borrowed(_) => (end + 1, None),
                        Cow::Owned(masked) => (end + 1, Some(format!("\"{masked}\""))),
                    }
                }
                b'-' | b'0'..=b'9' => {
                    let is_number = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                    let end = at + bytes[at..].iter().take_while(is_number).count();
                    let secret = numbers.then(|| self.digits(&json[at..end])).flatten();
                    (end, secret.map(|placeholder| format!("\"{placeholder}\"")))
                }
                _ => (at + 1, None),
            };
            if let Some(masked) = masked {
                out.push_str(&json[copied..at]);
                out.push_str(&masked);
                copied = end;
            }
            at = end;
        }
        if copied == 0 {
            return Cow::Borrowed(json);
        }
        out.push_str(json.get(copied..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// Returns the data of this JSON without secrets; `None` if the JSON holds none.
    pub(super) fn data<T: DeserializeOwned>(&self, json: &str) -> Option<T> {
        for numbers in [true, false] {
            match self.json(json, numbers) {
                Cow::Borrowed(_) => return None,
                Cow::Owned(masked) => {
                    if let Ok(masked) = serde_json::from_str(&masked) {
                        return Some(masked);
                    }
                }
            }
        }
        // A secret is a word of the format itself, such as `user`: that secret stays, and the
        // others are masked.
        let mut text = json.to_owned();
        for known in self.each() {
            match known.json(&text, false) {
                Cow::Owned(masked) if serde_json::from_str::<T>(&masked).is_ok() => text = masked,
                _ => {}
            }
        }
        serde_json::from_str(&text).ok()
    }

    /// Returns `true` if any secret could stand in JSON as a number.
    pub(super) fn has_digits(&self) -> bool {
        self.secrets.iter().any(|secret| secret.digits)
    }

    /// Returns the placeholder of the secret that is a part of this number.
    pub(super) fn digits(&self, number: &str) -> Option<&str> {
        let mut digits = self.secrets.iter().filter(|secret| secret.digits);
        let within = |secret: &&Arc<Spellings>| number.contains(secret.plain[0].expose_secret());
        digits
            .find(within)
            .map(|secret| secret.placeholder.as_str())
    }
}

/// Returns the length in bytes of a string whose opening quote has been taken.
pub(super) fn string(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the number of bytes that form the first character or escape of a string's content.
fn escape(bytes: &[u8]) -> usize {
    match bytes {
        [b'\\', b'u', ..] => 6,
        [b'\\', ..] => 2,
        _ => 1,
    }
}

impl Spellings {
    fn new(name: &str, value: &str) -> Self {
        let mut plain = vec![SecretString::from(value)];
        // A program that reads a key from a file may cut off a line break, so the trimmed value
        // counts too.
        if value.trim() != value {
            plain.push(value.trim().into());
        }
        let base64 = plain
            .iter()
            .flat_map(|plain| base64::within(plain.expose_secret()))
            .filter(|core| core.text.len() >= MIN_SECRET_CHARS)
            .map(|core| (core.text.into(), core.ragged))
            .collect();
        Spellings {
            placeholder: placeholder(name, value),
            plain,
            base64,
            digits: value.bytes().all(|byte| byte.is_ascii_digit()),
        }
    }

    fn patterns(&self) -> impl Iterator<Item = &SecretString> {
        self.plain
            .iter()
            .chain(self.base64.iter().map(|(core, _)| core))
    }
}

/// Returns the text that replaces a secret: its name, unless the name would reveal the value.
fn placeholder(name: &str, value: &str) -> String {
    let plain = |c: char| match c.is_alphanumeric() || matches!(c, '_' | '-' | '.') {
        true => c,
        false => '_',
    };
    let name: String = name.chars().map(plain).collect();
    [format!("[secret:{name}]"), "[secret]".to_owned()]
        .into_iter()
        .find(|placeholder| !placeholder.contains(value.trim()))
        .unwrap_or_else(|| "[***]".to_owned())
}
