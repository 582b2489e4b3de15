//! Data keys of runs.
//!
//! Each run has a data key of its own, with which everything of it is encrypted that a store keeps as bytes. The data key
//! is stored as well, wrapped with the key of its tenant.

use crate::{Keyring, RuntimeError, keys::random};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};

/// Data key of one run: it encrypts and decrypts what belongs to the run.
#[derive(Clone)]
pub(crate) struct RunKey {
    data: [u8; 32],
    cipher: XChaCha20Poly1305,
    run: String,
}

/// Length in bytes of a nonce, the random number that begins each encrypted text.
const NONCE: usize = 24;

impl RunKey {
    /// Creates a data key for a run. Returns it with its wrapped form, which is stored.
    pub(crate) fn create(
        keyring: &dyn Keyring,
        tenant: &str,
        run: &str,
    ) -> Result<(RunKey, Vec<u8>), RuntimeError> {
        let key = RunKey::of(random().map_err(RuntimeError::sealed)?, run);
        let wrapped = key.wrap(keyring, tenant)?;
        Ok((key, wrapped))
    }

    fn of(data: [u8; 32], run: &str) -> RunKey {
        RunKey {
            data,
            cipher: cipher(&data),
            run: run.to_owned(),
        }
    }

    /// Returns the key, wrapped with the latest key of the tenant.
    pub(crate) fn wrap(
        &self,
        keyring: &dyn Keyring,
        tenant: &str,
    ) -> Result<Vec<u8>, RuntimeError> {
        let (version, tenant_key) = keyring.latest(tenant).map_err(RuntimeError::sealed)?;
        let mut wrapped = version.to_le_bytes().to_vec();
        wrapped.extend(sealed(
            &cipher(&tenant_key.0),
            &self.run,
            "key",
            &self.data,
        )?);
        Ok(wrapped)
    }

    /// Decrypts the stored data key of a run with the key of its tenant.
    pub(crate) fn open(
        keyring: &dyn Keyring,
        tenant: &str,
        run: &str,
        wrapped: &[u8],
    ) -> Result<RunKey, RuntimeError> {
        if wrapped.is_empty() {
            return Err(crate::wording::erased(run));
        }
        let altered = || crate::wording::key_altered(run);
        let (version, data) = wrapped.split_first_chunk::<4>().ok_or_else(altered)?;
        let version = u32::from_le_bytes(*version);
        let key = keyring
            .version(tenant, version)
            .map_err(RuntimeError::sealed)?;
        let Some(key) = key else {
            return Err(crate::wording::key_version_missing(run, tenant, version));
        };
        let data = opened(&cipher(&key.0), run, "key", data)?;
        let data: [u8; 32] = data.try_into().map_err(|_| altered())?;
        Ok(RunKey::of(data, run))
    }

    /// Returns `true` if the keyring has no longer the key of the tenant with which a data key was wrapped.
    pub(crate) fn is_gone(
        keyring: &dyn Keyring,
        tenant: &str,
        wrapped: &[u8],
    ) -> Result<bool, RuntimeError> {
        let Some((version, _)) = wrapped.split_first_chunk::<4>() else {
            return Ok(false);
        };
        let key = keyring.version(tenant, u32::from_le_bytes(*version));
        Ok(key.map_err(RuntimeError::sealed)?.is_none())
    }

    /// Encrypts contents of the run. `what` says which contents they are; to decrypt them, the same `what` is needed.
    pub(crate) fn seal(&self, what: &str, contents: &[u8]) -> Result<Vec<u8>, RuntimeError> {
        sealed(&self.cipher, &self.run, what, contents)
    }

    /// Decrypts contents of the run that were encrypted with the same `what`.
    pub(crate) fn unseal(&self, what: &str, contents: &[u8]) -> Result<Vec<u8>, RuntimeError> {
        opened(&self.cipher, &self.run, what, contents)
    }
}

fn cipher(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.into())
}

/// Returns the text that binds encrypted contents to a run and to `what`: with any other text, they cannot be
/// decrypted.
fn place(run: &str, what: &str) -> String {
    format!("{run}\n{what}")
}

fn sealed(
    cipher: &XChaCha20Poly1305,
    run: &str,
    what: &str,
    contents: &[u8],
) -> Result<Vec<u8>, RuntimeError> {
    let nonce: [u8; NONCE] = random().map_err(RuntimeError::sealed)?;
    let place = place(run, what);
    let payload = Payload {
        msg: contents,
        aad: place.as_bytes(),
    };
    let sealed = cipher.encrypt(&XNonce::from(nonce), payload);
    let sealed = sealed.map_err(|_| crate::wording::too_long())?;
    Ok([&nonce[..], &sealed].concat())
}

fn opened(
    cipher: &XChaCha20Poly1305,
    run: &str,
    what: &str,
    contents: &[u8],
) -> Result<Vec<u8>, RuntimeError> {
    let altered = || crate::wording::altered(what, run);
    let (nonce, sealed) = contents.split_first_chunk::<NONCE>().ok_or_else(altered)?;
    let place = place(run, what);
    let payload = Payload {
        msg: sealed,
        aad: place.as_bytes(),
    };
    cipher
        .decrypt(&XNonce::from(*nonce), payload)
        .map_err(|_| altered())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileKeyring;
    use std::fs;

    #[test]
    fn contents_are_read_only_as_what_they_are_and_of_their_run() {
        let path = std::env::temp_dir().join(format!("agents-sealed-{}", std::process::id()));
        let keyring = FileKeyring::open(&path).unwrap();
        let (key, wrapped) = RunKey::create(&keyring, "acme", "run-1").unwrap();
        let sealed = key.seal("input", b"go").unwrap();
        let again = RunKey::open(&keyring, "acme", "run-1", &wrapped).unwrap();
        assert_eq!(again.unseal("input", &sealed).unwrap(), b"go");
        assert!(again.unseal("entries 0", &sealed).is_err());
        for at in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[at] ^= 1;
            assert!(again.unseal("input", &altered).is_err(), "{at}");
        }
        for length in 0..sealed.len() {
            assert!(again.unseal("input", &sealed[..length]).is_err());
        }
        assert!(RunKey::open(&keyring, "acme", "run-2", &wrapped).is_err());
        assert!(RunKey::open(&keyring, "other", "run-1", &wrapped).is_err());
        let (other, _) = RunKey::create(&keyring, "acme", "run-1").unwrap();
        assert!(other.unseal("input", &sealed).is_err());
        for end in ["", ".lock"] {
            let _ = fs::remove_file(format!("{}{end}", path.display()));
        }
    }
}
