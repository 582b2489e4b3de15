//! Contents of a tenant that belong to no run, encrypted.

use crate::{Keyring, RuntimeError, run_key::RunKey, wording};
use std::fmt;

/// Name under which the contents are encrypted, which binds the text to that use.
const CONTENTS: &str = "contents";

/// Contents of a tenant, encrypted with a key of their own, which the key of the tenant wraps. A store may keep both.
///
/// ```
/// use agents_runtime::{FileKeyring, Sealed};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("agents-doc-sealed-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("keys");
/// let keys = FileKeyring::open(&path)?;
/// let sealed = Sealed::of(&keys, "acme", "credential openai", b"sk-1")?;
/// assert_eq!(sealed.open(&keys, "acme", "credential openai")?, b"sk-1");
/// // They are read only as what they are, and with the key of their tenant.
/// assert!(sealed.open(&keys, "acme", "credential other").is_err());
/// assert!(sealed.open(&keys, "globex", "credential openai").is_err());
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed {
    /// Key with which the contents are encrypted, itself encrypted with a key of the tenant.
    pub data_key: Vec<u8>,
    /// Contents that are protected, encrypted with the key in `data_key`.
    pub contents: Vec<u8>,
}

impl Sealed {
    /// Encrypts contents of a tenant. `name` says which contents they are; to decrypt them, the same name is needed.
    ///
    /// # Errors
    /// When the keyring cannot be read or written.
    pub fn of(
        keyring: &dyn Keyring,
        tenant: &str,
        name: &str,
        contents: &[u8],
    ) -> Result<Self, RuntimeError> {
        let (key, data_key) = RunKey::create(keyring, tenant, name)?;
        let contents = key.seal(CONTENTS, contents)?;
        Ok(Sealed { data_key, contents })
    }

    /// Decrypts contents of this tenant that were encrypted with the same `name`.
    ///
    /// # Errors
    /// When the contents were altered, when the keyring cannot be read or has other keys, or when the tenant was
    /// erased.
    pub fn open(
        &self,
        keyring: &dyn Keyring,
        tenant: &str,
        name: &str,
    ) -> Result<Vec<u8>, RuntimeError> {
        let key = RunKey::open(keyring, tenant, name, &self.data_key);
        let opened = key.and_then(|key| key.unseal(CONTENTS, &self.contents));
        opened.map_err(|error| wording::not_opened(name, &error))
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealed")
    }
}
