use super::{
    MIN_SECRET_CHARS,
    decode::{Placed, layers, six_bits},
    reference::{Reference, named},
    search::{Heads, Pattern},
};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use std::{borrow::Cow, cmp::Reverse, sync::Arc};

/// Length in bytes of the parts in which long texts are searched, so that the search needs little memory.
const WINDOW: usize = 1 << 18;
/// Secrets that a masker knows, with the patterns by which they are searched.
#[derive(Default)]
pub(super) struct Known {
    secrets: Vec<Arc<Secret>>,
    heads: Option<Heads>,
    /// Length of the shortest and of the longest pattern, in bytes.
    lengths: (usize, usize),
    /// Is `true` if a pattern holds a quotation mark or a backslash.
    has_quotes: bool,
}

/// Secret that a masker knows, with all texts to search for.
pub(super) struct Secret {
    pub(super) reference: Reference,
    pub(super) placeholder: String,
    value: SecretString,
    patterns: Vec<Pattern>,
    /// Is `true` if the value consists of digits, so that JSON may hold it as a number.
    is_number: bool,
}

impl Secret {
    pub(super) fn value(&self) -> &str {
        self.value.expose_secret()
    }
}

/// Place in a text at which a secret was found.
pub(super) struct Found {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Index of the found secret among the known ones.
    index: usize,
}

/// Places of secrets that a search has found so far.
#[derive(Default)]
struct Hits {
    found: Vec<Found>,
    /// Place of the first secret that may continue after the end of the text. It is set only for a text that comes in
    /// pieces.
    open: Option<Option<usize>>,
}

impl Known {
    /// Returns the known secrets with one more; `None` if the value is known already.
    pub(super) fn and(&self, reference: Reference, value: &str) -> Option<Known> {
        if self.secrets.iter().any(|secret| secret.value() == value) {
            return None;
        }
        // A program that reads a key from a file may cut off a line break, so the trimmed value counts too.
        let trimmed = Some(value.trim()).filter(|trimmed| *trimmed != value);
        let mut secrets = self.secrets.clone();
        secrets.push(Arc::new(Secret {
            placeholder: placeholder(&reference.name, value),
            reference,
            value: value.into(),
            patterns: [value]
                .into_iter()
                .chain(trimmed)
                .map(Pattern::new)
                .collect(),
            is_number: value.bytes().all(|byte| byte.is_ascii_digit()),
        }));
        let patterns = || secrets.iter().flat_map(|secret| &secret.patterns);
        let shortest = patterns().map(Pattern::len).min();
        let longest = patterns().map(Pattern::len).max();
        Some(Known {
            has_quotes: secrets
                .iter()
                .any(|secret| secret.value().contains(['"', '\\'])),
            heads: Some(Heads::of(patterns())),
            lengths: (shortest.unwrap_or_default(), longest.unwrap_or_default()),
            secrets,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.secrets.len()
    }

    /// Returns the secret that a reference in a stored text stands for; `None` if it is not known.
    pub(super) fn referred(&self, reference: &Reference) -> Option<&Secret> {
        let mut secrets = self.secrets.iter();
        let secret = secrets.find(|secret| secret.reference == *reference);
        secret.map(Arc::as_ref)
    }

    pub(super) fn secret(&self, found: &Found) -> &Secret {
        &self.secrets[found.index]
    }

    /// Returns `true` if the text holds a secret. If not, the functions below do not change the text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.windows(text, Hits::default(), |hits| !hits.found.is_empty())
            .is_some()
    }

    /// Returns the places of secrets in a text, in their order, none within another.
    pub(super) fn find(&self, text: &str) -> Vec<Found> {
        let mut all = Vec::new();
        self.windows(text, Hits::default(), |hits| {
            all.append(&mut hits.found);
            false
        });
        merged(text, all)
    }

    /// Returns the place at which a secret begins that may continue after the end of the text; the end of the text if
    /// there is none.
    pub(super) fn open(&self, text: &str) -> usize {
        // An escape at the end may be incomplete.
        let escape = text.len() - trailing_escape(text.as_bytes());
        let text = &text[..escape];
        let hits = Hits {
            open: Some(None),
            ..Hits::default()
        };
        let mut open = escape;
        let mut found = Vec::new();
        self.windows(text, hits, |hits| {
            let begun = hits.open.replace(None).flatten();
            open = open.min(begun.unwrap_or(open));
            found.append(&mut hits.found);
            false
        });
        // A secret at the end may be the beginning of a longer one, or the last characters of base64 belong to it.
        const LAST: usize = 3;
        match merged(text, found).pop() {
            Some(last) if last.to + LAST >= open => open.min(last.from),
            _ => open,
        }
    }

    /// Searches a text part by part, until `is_enough` returns `true` for the results so far. Returns `None` if it
    /// never does.
    fn windows(
        &self,
        text: &str,
        mut hits: Hits,
        mut is_enough: impl FnMut(&mut Hits) -> bool,
    ) -> Option<()> {
        let heads = self.heads.as_ref()?;
        // Parts overlap, so that each secret is in one of them as a whole, whatever its encoding.
        let overlap = self.lengths.1 * 16;
        let window = WINDOW.max(overlap * 2);
        let mut from = 0;
        loop {
            let to = text.len().min(from + window);
            let part = &text.as_bytes()[from..to];
            self.search(heads, text, part, from, &mut hits);
            if is_enough(&mut hits) {
                return Some(());
            }
            if to == text.len() {
                return None;
            }
            from = to - overlap;
        }
    }

    /// Searches a part of a text for secrets, and each text that the part may encode.
    fn search(&self, heads: &Heads, text: &str, part: &[u8], from: usize, hits: &mut Hits) {
        let ellipsis = "…".as_bytes();
        let has_ellipsis = part.contains(&ellipsis[0])
            && part.windows(ellipsis.len()).any(|bytes| bytes == ellipsis);
        let shortest_run = match has_ellipsis {
            _ if hits.open.is_some() => 2,
            // The beginning of a secret counts where a text was cut off.
            true => (MIN_SECRET_CHARS * 8).div_ceil(6),
            false => (self.lengths.0 * 8).div_ceil(6),
        };
        if hits.open.is_none() && !self.may_be_in(heads, part, shortest_run) {
            return;
        }
        layers(Placed::plain(part, from), shortest_run, |units| {
            self.search_layer(heads, text, units, hits);
            false
        });
    }

    /// Returns `true` if a secret may be in a text or in a text that it encodes: a quick check. Nearly all texts have none,
    /// which is found out without a look at their places.
    fn may_be_in(&self, heads: &Heads, text: &[u8], shortest_run: usize) -> bool {
        if heads.may_be_in(text.iter().copied()) {
            return true;
        }
        let (mut run, mut is_escaped) = (0, false);
        let is_encoded = text.iter().any(|byte| {
            run = match six_bits(*byte) {
                Some(_) => run + 1,
                None => 0,
            };
            let escaped = std::mem::replace(&mut is_escaped, *byte == b'\\') && !is_escaped;
            match byte {
                // JSON within JSON: what stands between quotation marks is the same in each text that it encodes.
                b'"' => escaped && self.has_quotes,
                b'%' => true,
                _ => escaped || run >= shortest_run,
            }
        });
        is_encoded
            && layers(text.to_vec(), shortest_run, |bytes| {
                heads.may_be_in(bytes.iter().copied())
            })
    }

    fn search_layer(&self, heads: &Heads, text: &str, units: &[Placed], hits: &mut Hits) {
        let reaches_end = units.last().is_some_and(|unit| unit.to == text.len());
        let open = hits.open.as_mut().filter(|_| reaches_end);
        if open.is_none() && !heads.may_be_in(units.iter().map(|unit| unit.byte)) {
            return;
        }
        let mut begun = Vec::new();
        for (index, secret) in self.secrets.iter().enumerate() {
            for pattern in &secret.patterns {
                let found = |from, to| hits.found.push(Found { from, to, index });
                begun.extend(pattern.search(text, units, found));
            }
        }
        if let Some(open) = open {
            // The last character of base64 decides nothing yet.
            let last = units
                .last()
                .filter(|unit| unit.byte == b'=' || six_bits(unit.byte).is_some());
            begun.extend(last.map(|last| last.from));
            *open = begun.into_iter().chain(*open).min();
        }
    }

    /// Returns the text with placeholders, such as `[secret:crm]`, in place of secrets.
    pub(super) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text);
        replaced(text, &found, |found| {
            Some(self.secret(found).placeholder.clone())
        })
    }

    /// Returns JSON in whose strings, keys and numbers the secrets are replaced by what `instead` returns; a secret for
    /// which it returns `None` stays. The result is valid JSON if each replacement may stand within a JSON string.
    pub(super) fn json<'a>(
        &self,
        json: &'a str,
        instead: &dyn Fn(&Secret, Within<'_>) -> Option<String>,
    ) -> Cow<'a, str> {
        let (mut out, mut copied, mut at) = (String::new(), 0, 0);
        let bytes = json.as_bytes();
        while at < bytes.len() {
            let (end, masked) = match bytes[at] {
                b'"' => {
                    let end = at + 1 + string(&bytes[at + 1..]);
                    let text = &json[at + 1..end];
                    let found = whole_escapes(text, self.find(text));
                    let masked = replaced(text, &found, |found| {
                        let spelled = Within::String(&text[found.from..found.to]);
                        instead(self.secret(found), spelled)
                    });
                    match masked {
                        Cow::Borrowed(_) => (end + 1, None),
                        Cow::Owned(masked) => (end + 1, Some(format!("\"{masked}\""))),
                    }
                }
                b'-' | b'0'..=b'9' => {
                    let is_number = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                    let end = at + bytes[at..].iter().take_while(is_number).count();
                    let number = &json[at..end];
                    let mut secrets = self.secrets.iter().filter(|secret| secret.is_number);
                    let secret = secrets.find(|secret| number.contains(secret.value()));
                    let masked = secret.and_then(|secret| instead(secret, Within::Number(number)));
                    (end, masked.map(|masked| format!("\"{masked}\"")))
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

    /// Returns JSON in whose strings, keys and numbers the secrets are masked. The result is valid JSON.
    pub(super) fn masked<'a>(&self, json: &'a str) -> Cow<'a, str> {
        self.json(json, &|secret, _| Some(secret.placeholder.clone()))
    }

    /// Reads data from JSON, after its secrets are masked; `None` if the JSON holds no secret, or cannot be read. A
    /// secret that has to stay so that the data can be read is not masked.
    pub(super) fn data<T: DeserializeOwned>(&self, json: &str) -> Option<T> {
        let in_strings = |secret: &Secret, within: Within<'_>| match within {
            Within::String(_) => Some(secret.placeholder.clone()),
            Within::Number(_) => None,
        };
        let masked = match self.masked(json) {
            Cow::Borrowed(_) => return None,
            Cow::Owned(masked) => serde_json::from_str(&masked),
        };
        if let Ok(data) = masked.or_else(|_| serde_json::from_str(&self.json(json, &in_strings))) {
            return Some(data);
        }
        // A secret is a word of the format itself, such as `user`: that secret stays, and the others are masked.
        let mut text = json.to_owned();
        for secret in &self.secrets {
            let this = |other: &Secret, within: Within<'_>| {
                in_strings(other, within).filter(|_| other.reference == secret.reference)
            };
            if let Cow::Owned(masked) = self.json(&text, &this)
                && serde_json::from_str::<T>(&masked).is_ok()
            {
                text = masked;
            }
        }
        serde_json::from_str(&text).ok()
    }
}

/// Form in which a found secret stands in JSON: in a string or a number.
#[derive(Clone, Copy)]
pub(super) enum Within<'a> {
    /// The secret is a part of a string's content, with its escapes.
    String(&'a str),
    /// The found secret is a part of this number.
    Number(&'a str),
}

/// Sorts the places at which secrets were found, and joins places that overlap.
fn merged(text: &str, mut all: Vec<Found>) -> Vec<Found> {
    all.sort_by_key(|found| (found.from, Reverse(found.to)));
    let mut merged: Vec<Found> = Vec::with_capacity(all.len());
    for mut found in all {
        while !text.is_char_boundary(found.from) {
            found.from -= 1;
        }
        while !text.is_char_boundary(found.to) {
            found.to += 1;
        }
        match merged.last_mut() {
            Some(last) if found.from < last.to => last.to = last.to.max(found.to),
            _ => merged.push(found),
        }
    }
    merged
}

/// Returns the text with other texts in the places that were found.
fn replaced<'a>(
    text: &'a str,
    found: &[Found],
    instead: impl Fn(&Found) -> Option<String>,
) -> Cow<'a, str> {
    let (mut out, mut copied) = (String::new(), 0);
    for found in found {
        if let Some(instead) = instead(found) {
            out.push_str(&text[copied..found.from]);
            out.push_str(&instead);
            copied = found.to;
        }
    }
    match copied {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(out + &text[copied..]),
    }
}

/// Fits places to the escapes of a JSON string, so that no escape is cut. A place that begins within an escape is
/// removed.
fn whole_escapes(text: &str, found: Vec<Found>) -> Vec<Found> {
    if found.is_empty() || !text.contains('\\') {
        return found;
    }
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut next = |until: usize| {
        while at < until {
            at += match &bytes[at..] {
                [b'\\', b'u', ..] => 6,
                [b'\\', ..] => 2,
                _ => 1,
            };
        }
        at.min(bytes.len())
    };
    let mut whole = Vec::with_capacity(found.len());
    for mut found in found {
        if next(found.from) == found.from {
            found.to = next(found.to);
            whole.push(found);
        }
    }
    whole
}

/// Returns the length in bytes of the rest of a JSON string whose opening quote has been read.
fn string(bytes: &[u8]) -> usize {
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

/// Returns the length in bytes of what may be an incomplete escape at the end of a text, whose next piece completes it.
fn trailing_escape(text: &[u8]) -> usize {
    const LONGEST: usize = 48;
    let in_escape = |byte: &&u8| byte.is_ascii_hexdigit() || b"%\\ux{".contains(byte);
    let tail = text.iter().rev().take(LONGEST).take_while(in_escape);
    let tail: Vec<_> = tail.collect();
    let first = tail.iter().rposition(|byte| matches!(byte, b'\\' | b'%'));
    first.map_or(0, |first| first + 1)
}

/// Returns the text that is shown in place of a secret: its name, or `[secret]` or `[***]` if the name would reveal the
/// value.
fn placeholder(name: &str, value: &str) -> String {
    [named(name), "[secret]".to_owned()]
        .into_iter()
        .find(|placeholder| !placeholder.contains(value.trim()))
        .unwrap_or_else(|| "[***]".to_owned())
}
