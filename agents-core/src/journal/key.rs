//! Key of a run. Digests of arguments are made with it, so that they tell others nothing about the arguments.

use super::wording;
use crate::hex::{hex, id};
use hmac_sha256::HMAC;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::{fmt, sync::Arc};
use uuid::Uuid;

/// Key of a run, stored at its start: a random one, or for a nested run one that is made from the key of the run around
/// it.
///
/// Idempotency keys and digests of arguments leave the run. As they are made with a key, they cannot confirm a guess at
/// a short secret among the arguments.
#[derive(Clone, Copy)]
pub(crate) struct RunKey([u8; 32]);

impl RunKey {
    /// Creates a random key for a run that begins.
    pub(crate) fn random() -> RunKey {
        let mut key = [0; 32];
        key[..16].copy_from_slice(Uuid::new_v4().as_bytes());
        key[16..].copy_from_slice(Uuid::new_v4().as_bytes());
        RunKey(key)
    }

    /// Returns the key of the nested run at this place, the same whenever that run begins.
    pub(crate) fn within(&self, place: &str) -> RunKey {
        RunKey(HMAC::mac(place.as_bytes(), self.0))
    }

    /// Returns a digest of the text, made with the key. The digest tells nothing to whoever lacks the key.
    pub(crate) fn digest(&self, text: &str) -> Arc<str> {
        id(&HMAC::mac(text.as_bytes(), self.0))
    }
}

impl fmt::Debug for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunKey")
    }
}

impl Serialize for RunKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for RunKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let pairs = text.as_bytes().as_chunks::<2>();
        let bytes = match pairs {
            (pairs, []) => pairs.iter().map(|[high, low]| {
                let digit = |letter: u8| char::from(letter).to_digit(16);
                u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
            }),
            _ => return Err(Error::custom(wording::KEY_UNREADABLE)),
        };
        let bytes: Option<Vec<u8>> = bytes.collect();
        let key = bytes.and_then(|bytes| bytes.try_into().ok());
        key.map(RunKey)
            .ok_or_else(|| Error::custom(wording::KEY_UNREADABLE))
    }
}

#[cfg(test)]
mod tests {
    use super::RunKey;

    #[test]
    fn a_key_is_read_as_it_was_written() {
        let key = RunKey::random();
        let written = serde_json::to_string(&key).unwrap();
        let read: RunKey = serde_json::from_str(&written).unwrap();
        assert_eq!(read.0, key.0);
        assert_ne!(RunKey::random().0, key.0);
        for other in ["\"\"", "\"00\"", "\"0\"", "\"zz\"", "1"] {
            assert!(serde_json::from_str::<RunKey>(other).is_err(), "{other}");
        }
    }
}
