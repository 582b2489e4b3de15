//! Secrets in stored JSON: references replace them, and the exact values come back when the journal is read.

use super::{
    Masker,
    known::{Known, Secret, Within},
    reference::{CLOSE, ITSELF, LEVELS, OPEN, Part, Reference, Spelling, parts, references, shown},
};
use crate::Json;
use std::borrow::Cow;

impl Masker {
    /// Writes references in place of the secrets in JSON text that is to be stored. A character of the text itself that
    /// would look like the beginning of a reference is marked, even in a text without secrets. The text stays valid
    /// JSON.
    pub(crate) fn referenced<'a>(&self, json: &'a str) -> Cow<'a, str> {
        let json = match json.contains(OPEN) {
            true => Cow::Owned(json.replace(OPEN, &format!("{OPEN}{ITSELF}"))),
            false => Cow::Borrowed(json),
        };
        let Some(known) = self.known_in(&json) else {
            return json;
        };
        let referenced = |secret: &Secret, within: Within<'_>| Some(known.refer(secret, within));
        match known.json(&json, &referenced) {
            Cow::Owned(referenced) => Cow::Owned(referenced),
            Cow::Borrowed(_) => json,
        }
    }

    /// Returns a value in the form in which a fact holds it before it is stored: unchanged, if references can later
    /// stand for each of its secrets and lead back to the same text; else masked.
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

    /// Replaces references in stored JSON by the values of the secrets that are known. Other references stay.
    pub(crate) fn restored<'a>(&self, json: &'a str) -> Cow<'a, str> {
        if !json.contains(OPEN) {
            return Cow::Borrowed(json);
        }
        let known = self.known();
        let value = |text| {
            let (spelling, reference) = Reference::read(text)?;
            let secret = known.as_deref()?.referred(&reference)?;
            match spelling {
                Spelling::Escaped(level) => Some((escaped(secret.value(), level), false)),
                Spelling::Number => Some((secret.value().to_owned(), true)),
                Spelling::Other => None,
            }
        };
        let mut out = String::with_capacity(json.len());
        // A number stands in JSON without quotes, but its reference stands within quotes.
        let mut closes_number = false;
        for part in parts(json) {
            match part {
                Part::Text(text) if closes_number => {
                    out.push_str(text.strip_prefix('"').unwrap_or(text));
                }
                Part::Text(text) => out.push_str(text),
                Part::Open => out.push(OPEN),
                Part::Reference(text) => match value(text) {
                    Some((value, true)) if out.ends_with('"') => {
                        out.pop();
                        out.push_str(&value);
                        closes_number = true;
                        continue;
                    }
                    Some((value, _)) => out.push_str(&value),
                    None => out.extend([OPEN.to_string(), text.to_owned(), CLOSE.to_string()]),
                },
            }
            closes_number = false;
        }
        Cow::Owned(out)
    }
}

impl Known {
    /// Returns the reference to a secret that stood in this form in JSON.
    fn refer(&self, secret: &Secret, within: Within<'_>) -> String {
        let mut reference = secret.reference.clone();
        let is_named = reference.shown() == secret.placeholder;
        let spelling = match within {
            Within::Number(number) if number == secret.value() => Spelling::Number,
            Within::Number(_) => Spelling::Other,
            Within::String(text) => (1..=LEVELS)
                .find(|level| escaped(secret.value(), *level) == text)
                .map_or(Spelling::Other, Spelling::Escaped),
        };
        // The name would reveal the value, or belongs to an earlier value of the secret.
        let leads_here = self.referred(&reference).map(Secret::value) == Some(secret.value());
        if !is_named {
            reference.name.clear();
            reference.version = None;
        }
        match is_named && leads_here {
            true => reference.written(spelling),
            false => reference.written(Spelling::Other),
        }
    }
}

/// Returns the text as it is spelled within this number of nested JSON strings.
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
    use crate::secret::SecretScope;
    use serde_json::{Value, json};

    fn names(text: &str) -> Vec<String> {
        references(text).into_iter().map(|it| it.name).collect()
    }

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
        assert_eq!(names(&stored), ["crm", "pin"]);
        assert_eq!(masker.restored(&stored), text);

        let seen: Value = serde_json::from_str(&shown(&stored)).unwrap();
        assert_eq!(seen["plain"], "key [secret:crm], and \u{E000} itself");
        assert_eq!(seen["pin"], "[secret:pin]");

        // A masker without the secret leaves the text valid JSON.
        let nobody = Masker::new();
        let kept: Value = serde_json::from_str(&nobody.restored(&stored)).unwrap();
        assert_eq!(kept["count"], 73);
        let plain = kept["plain"].as_str().unwrap();
        assert!(shown(plain).starts_with("key [secret:crm], and"));
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
    fn a_reference_has_the_scope_the_name_and_the_version() {
        let version = Some("2026|07 {é}\u{E001}".to_owned());
        let user = Reference {
            scope: SecretScope::User,
            name: "the \"crm\"".to_owned(),
            version,
        };
        let org = Reference {
            scope: SecretScope::Org,
            version: None,
            ..user.clone()
        };
        let masker = Masker::new();
        let learn = |reference: &Reference, value: &str| {
            masker.learn_as(reference.clone(), &value.into()).unwrap();
        };
        learn(&user, "hunter/2");
        learn(&org, "hunter/3");
        let text = r#"{"a":"hunter/2","b":"hunter/3"}"#;
        let stored = masker.referenced(text).into_owned();
        assert!(serde_json::from_str::<Value>(&stored).is_ok(), "{stored}");
        assert_eq!(references(&stored), [user.clone(), org]);
        assert_eq!(masker.restored(&stored), text);
        assert_eq!(
            shown(&stored),
            r#"{"a":"[secret:the__crm_]","b":"[secret:the__crm_]"}"#
        );

        // Another version does not stand for this one.
        let later = Masker::new();
        let version = Some("2026-08".to_owned());
        let renewed = Reference { version, ..user };
        later.learn_as(renewed, &"hunter/4".into()).unwrap();
        assert_eq!(later.restored(&stored), stored);
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
