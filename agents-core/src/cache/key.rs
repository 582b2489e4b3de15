use crate::{hex::hex, json::canonical, tool::ToolSpec};
use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

/// Key under which a tool's result is cached: the tenant, the tool, and a digest of all parts of the key, which the
/// [module](crate::cache) lists.
///
/// Calls that differ in any of the parts have different keys. Equal calls have the same key on every machine of one
/// kind: the hash of injected values may depend on the processor. A clone of a key is cheap.
#[derive(Clone, PartialEq, Eq)]
pub struct CacheKey {
    /// Tenant, tool and digest of the key in one text, with a `/` between them.
    text: Arc<str>,
    /// Length of the tenant's id in the text, in bytes.
    tenant: usize,
    tool: usize,
}

/// Call whose result is looked up in the cache: all that its key is made of.
pub(crate) struct CacheQuery<'a> {
    pub(crate) spec: &'a ToolSpec,
    /// Function that hashes the injected values of the tool, which distinguish it from others of its type.
    pub(crate) instance: &'a dyn Fn(&mut dyn Hasher),
    /// Arguments of the call, as JSON text.
    pub(crate) args: &'a str,
    /// Id of the tenant (organisation) that the run works for.
    pub(crate) tenant: &'a str,
    /// Digest of the run's own secrets, user and workspace: with other secrets a tool may give other results. The
    /// digest is empty in a run that was given neither secrets nor a source of them; such a run shares its results with
    /// its tenant.
    pub(crate) secrets: &'a [u8],
}

impl CacheKey {
    pub(crate) fn of(asked: &CacheQuery<'_>) -> CacheKey {
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

    /// Returns the tool that gave the result, as `name@version`.
    pub fn tool(&self) -> &str {
        &self.text[self.tenant + 1..][..self.tool]
    }

    /// Returns the digest of all parts of the key, tenant and tool included; it is unique by itself.
    pub fn digest(&self) -> &str {
        &self.text[self.tenant + self.tool + 2..]
    }
}

impl CacheQuery<'_> {
    /// Returns the digest of all parts of the key. The digest of the specification comes first and has a fixed length,
    /// and each other part has its length before it, so that no two lists of parts have the same bytes. The injected
    /// values of the tool come last, because there may be any number of them.
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

/// Hasher that keeps every byte, for the digest of a key: two values that write different parts have different digests.
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

    /// Parts of a generated key: the tool's name, its version, a field of its schema and its value; the arguments, the
    /// tenant, the secrets.
    type Parts = (String, String, String, String, String, String, String);

    fn key((name, version, field, instance, args, tenant, secrets): &Parts) -> CacheKey {
        let schema = json!({ "type": "object", "properties": { (field.as_str()): {} } });
        let spec = ToolSpec::new(name.clone(), "", Effects::Reads, schema).version(version.clone());
        CacheKey::of(&CacheQuery {
            spec: &spec,
            instance: &|state| state.write(instance.as_bytes()),
            args,
            tenant,
            secrets: secrets.as_bytes(),
        })
    }

    /// Generates texts of few letters, among them those that separate the parts of keys elsewhere.
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
