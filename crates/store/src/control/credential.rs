use std::{fmt, time::Duration};

/// Key of a stored credential: who owns it, and its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CredentialKey {
    /// Id of the organisation that owns the credential; empty for the platform.
    pub org_id: String,
    /// Id of the workspace that owns the credential; empty for the organisation itself.
    pub domain_id: String,
    /// Name of the credential, by which profiles refer to it.
    pub name: String,
}

/// Contents of a credential. A store knows nothing of them: they are encrypted.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredCredential {
    /// Version of the contents, such as a UUID: each write of new contents comes with a new version.
    pub version: String,
    /// Key with which the contents are encrypted, itself encrypted with a key of the tenant.
    pub data_key: Vec<u8>,
    /// Contents such as an API key, encrypted with `data_key`.
    pub contents: Vec<u8>,
}

impl fmt::Debug for StoredCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredCredential")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// Lease on a credential that is to be asked for. Only its holder may refresh the credential, until the time is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialLease {
    /// Version of the contents that the holder has read.
    pub version: String,
    /// Name of the holder, which no other holder has.
    pub holder: String,
    /// Time after which another holder may get the lease, from the moment at which it is given.
    pub time: Duration,
}

/// Answer to somebody who asks for the lease on a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialAnswer {
    /// The holder who asked has the lease, and may refresh the credential.
    Leased,
    /// The lease is taken: by another holder, or by this one since an earlier request.
    Taken {
        /// Time until the lease that was given before ends.
        wait: Duration,
    },
    /// The credential has new contents by now, or was removed.
    Changed,
}
