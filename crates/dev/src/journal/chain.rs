//! Chained digests: the digest of each line of a journal covers the line and all lines before it.

use hmac_sha256::HMAC;
use std::fmt;

/// Key of the digests in a journal's file.
///
/// With a key, whoever reads the journal finds lines that were altered, removed, inserted or moved by somebody without
/// the key. Lines that were removed at the end are not noticed, because the rest is a complete journal. Without a key,
/// the digests find accidental changes only, because anybody can compute them.
///
/// ```
/// use agents::journal::Key;
///
/// let key = Key::from(b"at least 16 bytes that nobody else knows");
/// assert!(key.is_secret() && !Key::none().is_secret());
/// assert_eq!(format!("{key:?}"), "Key(secret)");
/// ```
#[derive(Clone)]
pub struct Key(Option<Vec<u8>>);

impl Key {
    /// Returns a value without a key: the digests then only find accidental changes.
    pub fn none() -> Self {
        Key(None)
    }

    /// Returns `true` if there is a key, so that changes by others are found.
    pub fn is_secret(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the digest of a line; `before` is the digest of the line before it.
    pub(super) fn digest(&self, before: &str, line: &[u8]) -> String {
        // Without a key, a key that is publicly known takes its place.
        let key = self.0.as_deref().unwrap_or(b"agents journal without a key");
        let mut hmac = HMAC::new(key);
        hmac.update(before);
        hmac.update(line);
        let digest = hmac.finalize();
        digest[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

impl From<&[u8]> for Key {
    fn from(key: &[u8]) -> Self {
        Key(Some(key.to_vec()))
    }
}

impl<const N: usize> From<&[u8; N]> for Key {
    fn from(key: &[u8; N]) -> Self {
        Key::from(&key[..])
    }
}

impl<const N: usize> From<[u8; N]> for Key {
    fn from(key: [u8; N]) -> Self {
        Key::from(&key[..])
    }
}

impl From<Vec<u8>> for Key {
    fn from(key: Vec<u8>) -> Self {
        Key(Some(key))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.is_secret() {
            true => "Key(secret)",
            false => "Key(none)",
        })
    }
}
