use crate::{hex::hex, json::canonical, tool::ToolSpec};
use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

/// Key under which a tool's result is cached: a digest of everything that the result depends on.
///
/// Two calls that differ in anything have different keys; equal calls have the same key on any
/// machine. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct CacheKey {
    /// The tenant, the tool, and the digest, with a stroke between them.
    text: Arc<str>,
    /// How long the first of them is, and the second.
    tenant: usize,
    tool: usize,
}

/// The call that is asked for.
pub(crate) struct Asked<'a> {
    pub(crate) spec: &'a ToolSpec,
    /// Feeds what tells the value of the tool from others of its type.
    pub(crate) instance: &'a dyn Fn(&mut dyn Hasher),
    /// The arguments, as text.
    pub(crate) args: &'a str,
    /// The tenant.
    pub(crate) tenant: &'a str,
    /// What tells apart those for whom a tool may give different results.
    pub(crate) secrets: &'a [u8],
}

impl CacheKey {
    pub(crate) fn of(asked: &Asked<'_>) -> CacheKey {
        let (tool, digest) = (asked.spec.key(), asked.digest());
        CacheKey {
            text: format!("{}/{tool}/{digest}", asked.tenant).into(),
            tenant: asked.tenant.len(),
            tool: tool.len(),
        }
    }

    /// Returns the tenant that the result belongs to.
    pub fn tenant(&self) -> &str {
        &self.text[..self.tenant]
    }

    /// Returns the tool, as `name@version`.
    pub fn tool(&self) -> &str {
        &self.text[self.tenant + 1..][..self.tool]
    }

    /// Returns the digest of everything, tenant and tool included; it is unique by itself.
    pub fn digest(&self) -> &str {
        &self.text[self.tenant + self.tool + 2..]
    }
}

impl Asked<'_> {
    /// Each part with its length before it, so that no two lists of parts look alike; what the tool feeds
    /// comes last, as there may be any number of it.
    fn digest(&self) -> String {
        let mut digest = Fed(hmac_sha256::Hash::new());
        digest.0.update(self.spec.digest());
        let args = canonical(self.args);
        for part in [args.as_bytes(), self.tenant.as_bytes(), self.secrets] {
            digest.write(part);
        }
        (self.instance)(&mut digest);
        hex(&digest.0.finalize())
    }
}

/// A hasher that forgets nothing: two values that feed it differently differ.
struct Fed(hmac_sha256::Hash);

impl Hasher for Fed {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

impl Hash for CacheKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest().hash(state);
    }
}

impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effects;
    use proptest::prelude::*;
    use serde_json::json;

    /// The tool's name, its version, a field of its schema, its value; the arguments, the tenant, the
    /// secrets.
    type Parts = (String, String, String, String, String, String, String);

    fn key((name, version, field, instance, args, tenant, secrets): &Parts) -> CacheKey {
        let schema = json!({ "type": "object", "properties": { (field.as_str()): {} } });
        let spec = ToolSpec::new(name.clone(), "", Effects::Reads, schema).version(version.clone());
        CacheKey::of(&Asked {
            spec: &spec,
            instance: &|state| state.write(instance.as_bytes()),
            args,
            tenant,
            secrets: secrets.as_bytes(),
        })
    }

    /// Few letters, those among them that stand between parts elsewhere.
    fn part() -> impl Strategy<Value = String> {
        "[a@/\0]{0,3}"
    }

    fn parts() -> impl Strategy<Value = Parts> {
        let args = "[1-3]{1,2}".prop_map(|digits| format!(r#"{{"n":{digits}}}"#));
        (part(), part(), part(), part(), args, part(), part())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn two_calls_have_one_key_only_if_they_are_one(one in parts(), two in parts()) {
            prop_assert_eq!(key(&one) == key(&two), one == two);
            prop_assert_eq!(key(&one).digest() == key(&two).digest(), one == two);
        }

        #[test]
        fn one_change_makes_another_key(one in parts(), other in parts(), at in 0..7_usize) {
            let mut two = one.clone();
            match at {
                0 => two.0 = other.0,
                1 => two.1 = other.1,
                2 => two.2 = other.2,
                3 => two.3 = other.3,
                4 => two.4 = other.4,
                5 => two.5 = other.5,
                _ => two.6 = other.6,
            }
            prop_assert_eq!(key(&one) == key(&two), one == two);
        }

        #[test]
        fn what_moves_between_parts_makes_another_key(text in "[ab]{2,8}", one in 0..9_usize, two in 0..9_usize) {
            let (one, two) = (one.min(text.len()), two.min(text.len()));
            let split = |at: usize| -> Parts {
                let (name, version) = text.split_at(at);
                {
                    let none = String::new;
                    (name.into(), version.into(), none(), none(), "{}".into(), none(), none())
                }
            };
            prop_assert_eq!(key(&split(one)) == key(&split(two)), one == two);
        }
    }

    #[test]
    fn spelling_does_not_matter_and_digits_do() {
        let of = |args: &str| {
            let text = || "a".to_owned();
            key(&(
                text(),
                text(),
                text(),
                text(),
                args.to_owned(),
                text(),
                text(),
            ))
        };
        assert_eq!(of(r#"{"a":1,"b":[2]}"#), of(" {\"b\": [ 2 ],\n\"a\": 1}"));
        assert_ne!(
            of(r#"{"a":9007199254740993}"#),
            of(r#"{"a":9007199254740992}"#)
        );
    }
}
