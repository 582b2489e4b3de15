use super::{Blob, BlobError, BlobStore};
use async_trait::async_trait;
use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// A blob store in memory, with URLs of the form `memory:<folder>/<sha256>`, where the folder stands for the tenant:
/// see [`Blob::folder`].
///
/// Blobs are never evicted; a full store refuses more.
///
/// ```
/// # use agents_core as agents;
/// use agents::blob::{Blob, BlobError, BlobStore, MemoryBlobs};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BlobError> {
///
/// let blobs = MemoryBlobs::new();
/// let url = blobs.put(&Blob::new("acme", "text/plain", b"a long text")).await?;
/// assert_eq!(blobs.get(&url).await?.unwrap(), b"a long text");
/// # Ok(())
/// # }
/// ```
pub struct MemoryBlobs {
    max_bytes: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    blobs: HashMap<String, Vec<u8>>,
    bytes: usize,
}

impl MemoryBlobs {
    /// Creates a store that holds up to 256 MB (256,000,000 bytes).
    pub fn new() -> Self {
        MemoryBlobs {
            max_bytes: 256_000_000,
            kept: Mutex::default(),
        }
    }

    /// Sets how many bytes all blobs together may take; 256,000,000 by default. A blob that does not fit any more is an
    /// error.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryBlobs {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl BlobStore for MemoryBlobs {
    async fn put(&self, blob: &Blob<'_>) -> Result<String, BlobError> {
        let url = format!("memory:{}/{}", blob.folder(), blob.sha256());
        let mut kept = self.kept();
        if !kept.blobs.contains_key(&url) {
            let bytes = kept.bytes + blob.bytes().len();
            if bytes > self.max_bytes {
                return Err(format!("{} bytes are the most that is kept", self.max_bytes).into());
            }
            kept.bytes = bytes;
            kept.blobs.insert(url.clone(), blob.bytes().to_vec());
        }
        Ok(url)
    }

    async fn get(&self, url: &str) -> Result<Option<Vec<u8>>, BlobError> {
        Ok(self.kept().blobs.get(url).cloned())
    }
}

impl fmt::Debug for MemoryBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.kept();
        f.debug_struct("MemoryBlobs")
            .field("blobs", &kept.blobs.len())
            .field("bytes", &kept.bytes)
            .finish_non_exhaustive()
    }
}
