//! References: they replace secrets in a journal, so that the exact value comes back when the journal is read.
//!
//! A reference consists of a private character, the spelling of the value, `[secret:name]`, and another private
//! character. No other text can be taken for a reference, because a private character in other text is marked.

use super::{
    Masker,
    known::{At, Known, string},
};
use crate::Json;
use std::{borrow::Cow, collections::BTreeSet};

/// Opening character of a reference.
const OPEN: char = '\u{E000}';
/// Closing character of a reference.
const CLOSE: char = '\u{E001}';
/// Mark behind an opening character that is a part of the text itself.
const ITSELF: char = '\u{E002}';

/// Maximum number of times that JSON text within JSON may be escaped for its secrets to get references.
const LEVELS: usize = 4;

impl Masker {
    /// Writes references in place of the secrets in JSON text, which stays valid JSON.
    pub(crate) fn referenced<'a>(&self, json: &'a str) -> Cow<'a, str> {
        let json = match json.contains(OPEN) {
            true => Cow::Owned(json.replace(OPEN, &format!("{OPEN}{ITSELF}"))),
            false => Cow::Borrowed(json),
        };
        match self.known_in(&json) {
            Some(known) => match known.referenced(&json) {
                Cow::Owned(referenced) => Cow::Owned(referenced),
                Cow::Borrowed(_) => json,
            },
            None => json,
        }
    }

    /// Returns a value as a fact holds it: exact, if references can stand for every secret in it. Otherwise, such
    /// as for a secret that is spread over several strings, the value is masked.
    pub(crate) fn kept(&self, json: &Json) -> Json {
        if self.known_in(json.as_str()).is_none() {
            return json.clone();
        }
        let masked = self.json(json);
        let referenced = self.referenced(json.as_str());
        let is_exact = self.restored(&referenced) == json.as_str();
        match is_exact && shown(&referenced) == masked.as_str() {
            true => json.clone(),
            false => masked,
        }
    }

    /// Returns a value as people and models may see it: without secrets, and with the name of the secret in place
    /// of each reference.
    pub(crate) fn seen(&self, json: &Json) -> Json {
        let masked = self.json(json);
        match references(masked.as_str()).is_empty() {
            true => masked,
            false => Json::parse(shown(masked.as_str())).unwrap_or(masked),
        }
    }

    /// Replaces the references to known secrets by their values. References to unknown secrets stay.
    pub(crate) fn restored<'a>(&self, json: &'a str) -> Cow<'a, str> {
        if !json.contains(OPEN) {
            return Cow::Borrowed(json);
        }
        let known = self.known();
        let mut out = String::with_capacity(json.len());
        let mut rest = json;
        while let Some(at) = rest.find(OPEN) {
            out.push_str(&rest[..at]);
            rest = &rest[at + OPEN.len_utf8()..];
            if let Some(behind) = rest.strip_prefix(ITSELF) {
                out.push(OPEN);
                rest = behind;
                continue;
            }
            let (reference, behind) = rest.split_once(CLOSE).unwrap_or((rest, ""));
            rest = behind;
            let (how, placeholder) = reference.split_at(reference.len().min(1));
            let value = known.as_deref().and_then(|known| known.value(placeholder));
            match (value, how) {
                // A number stands in JSON without quotes, but its reference stands within quotes.
                (Some(value), "n") if out.ends_with('"') && rest.starts_with('"') => {
                    out.pop();
                    out.push_str(value);
                    rest = &rest[1..];
                }
                (Some(value), how) if how.parse::<usize>().is_ok_and(|level| level <= LEVELS) => {
                    out.push_str(&escaped(value, how.parse().unwrap_or_default()));
                }
                _ => {
                    out.push(OPEN);
                    out.push_str(reference);
                    out.push(CLOSE);
                }
            }
        }
        out.push_str(rest);
        Cow::Owned(out)
    }
}

/// Returns the names of the secrets to which there are references in a text.
pub(crate) fn references(text: &str) -> BTreeSet<String> {
    let parts = text.split(OPEN).skip(1);
    let named = parts.filter_map(|part| {
        let (reference, _) = part.split_once(CLOSE)?;
        let name = reference.get(1..)?.strip_prefix("[secret:")?;
        Some(name.strip_suffix(']')?.to_owned())
    });
    named.collect()
}

/// Returns JSON text as people may see it: each reference is replaced by the name of its secret.
pub(crate) fn shown(json: &str) -> Cow<'_, str> {
    if !json.contains(OPEN) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut parts = json.split(OPEN);
    out.extend(parts.next());
    for part in parts {
        match (part.strip_prefix(ITSELF), part.split_once(CLOSE)) {
            (Some(behind), _) => {
                out.push(OPEN);
                out.push_str(behind);
            }
            (None, Some((reference, behind))) => {
                out.push_str(reference.get(1..).unwrap_or_default());
                out.push_str(behind);
            }
            (None, None) => out.push_str(part),
        }
    }
    Cow::Owned(out)
}

impl Known {
    fn referenced<'a>(&self, json: &'a str) -> Cow<'a, str> {
        let (mut out, mut copied, mut at) = (String::new(), 0, 0);
        let bytes = json.as_bytes();
        while at < bytes.len() {
            let (end, instead) = match bytes[at] {
                b'"' => {
                    let end = at + 1 + string(&bytes[at + 1..]);
                    let inner = self.referenced_in(&json[at + 1..end]);
                    (end + 1, inner.map(|inner| format!("\"{inner}\"")))
                }
                b'-' | b'0'..=b'9' => {
                    let is_number = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                    let end = at + bytes[at..].iter().take_while(is_number).count();
                    let number = &json[at..end];
                    let placeholder = self.digits(number);
                    let instead = placeholder.map(|placeholder| {
                        // Only the exact value can be restored; any other spelling of it stays hidden.
                        let how = match self.value(placeholder) == Some(number) {
                            true => 'n',
                            false => '?',
                        };
                        format!("\"{OPEN}{how}{placeholder}{CLOSE}\"")
                    });
                    (end, instead)
                }
                _ => (at + 1, None),
            };
            if let Some(instead) = instead {
                out.push_str(&json[copied..at]);
                out.push_str(&instead);
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

    /// Returns the text of a JSON string with references in place of secrets; `None` if there is no secret in the
    /// text.
    fn referenced_in(&self, text: &str) -> Option<String> {
        let (mut out, mut copied, mut at) = (String::new(), 0, 0);
        while at < text.len() {
            let At::Secret { end, instead, .. } = self.at(text, at) else {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            };
            let found = &text[at..end];
            let value = self.value(instead).unwrap_or_default();
            let level = (1..=LEVELS).find(|level| escaped(value, *level) == found);
            let how = level.map_or_else(|| "?".to_owned(), |level| level.to_string());
            out.push_str(&text[copied..at]);
            out.push_str(&format!("{OPEN}{how}{instead}{CLOSE}"));
            copied = end;
            at = end;
        }
        (copied > 0).then(|| out + &text[copied..])
    }
}

/// Returns the text as it stands within this number of nested JSON strings.
fn escaped(text: &str, levels: usize) -> String {
    let mut text = text.to_owned();
    for _ in 0..levels {
        let json = serde_json::Value::from(text).to_string();
        text = json[1..json.len() - 1].to_owned();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_secret_comes_back_as_it_was_spelled() {
        let masker = Masker::new();
        masker
            .learn("crm", &"hun\"ter/2".to_owned().into())
            .unwrap();
        masker.learn("pin", &"73519".to_owned().into()).unwrap();
        let inner = json!({ "password": "hun\"ter/2", "n": 1 }).to_string();
        let fact = json!({
            "plain": "key hun\"ter/2, and \u{E000} itself",
            "nested": inner,
            "pin": 73519,
            "count": 73,
        });
        let text = fact.to_string();
        let stored = masker.referenced(&text).into_owned();
        assert!(
            !stored.contains("hun") && !stored.contains("73519"),
            "{stored}"
        );
        assert_eq!(
            references(&stored).into_iter().collect::<Vec<_>>(),
            ["crm", "pin"]
        );
        assert_eq!(masker.restored(&stored), text);

        let seen: Value = serde_json::from_str(&shown(&stored)).unwrap();
        assert_eq!(seen["plain"], "key [secret:crm], and \u{E000} itself");
        assert_eq!(seen["pin"], "[secret:pin]");

        // A masker without the secret leaves the text valid JSON.
        let nobody = Masker::new();
        let kept: Value = serde_json::from_str(&nobody.restored(&stored)).unwrap();
        assert_eq!(kept["count"], 73);
        assert!(kept["plain"].as_str().unwrap().contains("[secret:crm]"));
    }

    #[test]
    fn a_fact_holds_the_exact_value_if_references_can_stand_for_it() {
        let masker = Masker::new();
        masker.learn("crm", &"hunter/2".to_owned().into()).unwrap();
        let json = |value: Value| Json::parse(value.to_string()).unwrap();
        for exact in [
            json!({ "key": "hunter/2" }),
            json!("hunter/2"),
            json!({ "n": 1 }),
        ] {
            let exact = json(exact);
            assert_eq!(masker.kept(&exact), exact);
            let seen = masker.seen(&exact);
            assert_eq!(seen, masker.json(&exact));
            // A masker without the secret shows the same.
            let stored = Json::parse(masker.referenced(exact.as_str())).unwrap();
            assert_eq!(Masker::new().seen(&stored), seen);
        }
        // Another spelling could not be restored.
        let hidden = json(json!("hunter%2F2"));
        let kept = masker.kept(&hidden);
        assert_eq!(kept, masker.json(&hidden));
        assert_ne!(kept, hidden);
    }

    #[test]
    fn another_spelling_is_hidden_for_good() {
        let masker = Masker::new();
        masker.learn("crm", &"hunter/2".to_owned().into()).unwrap();
        let text = json!({ "url": "https://example.com/?key=hunter%2F2" }).to_string();
        let stored = masker.referenced(&text).into_owned();
        assert!(!stored.contains("hunter"), "{stored}");
        let again = masker.restored(&stored).into_owned();
        assert_eq!(again, stored);
        assert_eq!(references(&again).len(), 1);
    }
}
