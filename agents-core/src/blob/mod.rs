//! Storage for tool outputs that are too large for a receipt, and for images, files and tables.
//!
//! If an output exceeds [`max_output_bytes`](crate::agent::Run::max_output_bytes), the receipt and the model get only
//! its beginning. With a [`BlobStore`], the whole output, with secrets masked, is stored under its SHA-256, and the
//! receipt has an attachment that refers to it. The bytes of images, files and tables that a tool returns are stored as
//! well, and those of images and files in an agent's task.
//!
//! ```
//! # use agents_core as agents;
//! use agents::blob::{BlobStore, MemoryBlobs};
//! # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
//! # use serde_json::json;
//! # use std::sync::Arc;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! # let schema = json!({"type": "object"});
//! # let tool = FnTool::new("dump", "Dumps.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("x".repeat(3000)) });
//! # let (model, _) = ScriptedModel::new([Script::call("dump", "{}"), Script::text("done")]);
//! # let agent = AgentBuilder::<String, String>::new("clerk").tool(tool).model(model).build();
//!
//! let blobs = Arc::new(MemoryBlobs::new());
//! let run = agent.run("Dump it.").max_output_bytes(1000).blobs(blobs.clone());
//! let receipt = run.outcome().await?.outputs.last_tool.unwrap();
//!
//! assert!(receipt.truncated);
//! let whole = blobs.get(&receipt.attachments[0].url).await?.unwrap();
//! assert_eq!(whole, "x".repeat(3000).as_bytes());
//! # Ok(())
//! # }
//! ```

mod memory;

pub use memory::MemoryBlobs;

use crate::hex::hex;
use async_trait::async_trait;
use std::{error::Error as StdError, sync::Arc};

/// Error of a [`BlobStore`], for instance of the disk that it writes to.
pub type BlobError = Box<dyn StdError + Send + Sync>;

/// Storage for tool outputs that are too large for a receipt, and for images, files and tables.
///
/// ```
/// # use agents_core as agents;
/// use agents::async_trait;
/// use agents::blob::{Blob, BlobError, BlobStore};
/// use std::{collections::HashMap, sync::Mutex};
///
/// #[derive(Default)]
/// struct Drawer(Mutex<HashMap<String, Vec<u8>>>);
///
/// #[async_trait]
/// impl BlobStore for Drawer {
///     async fn put(&self, blob: &Blob<'_>) -> Result<String, BlobError> {
///         let url = format!("drawer:{}/{}", blob.folder(), blob.sha256());
///         self.0.lock().unwrap().insert(url.clone(), blob.bytes().to_vec());
///         Ok(url)
///     }
///
///     async fn get(&self, url: &str) -> Result<Option<Vec<u8>>, BlobError> {
///         Ok(self.0.lock().unwrap().get(url).cloned())
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), BlobError> {
///
/// let drawer = Drawer::default();
/// let url = drawer.put(&Blob::new("acme", "text/plain", b"long")).await?;
/// assert_eq!(drawer.get(&url).await?.unwrap(), b"long");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait BlobStore: Send + Sync + 'static {
    /// Stores a blob and returns its URL, which is the same for the same content of the same tenant.
    ///
    /// # Errors
    /// When the blob cannot be stored. A store that panics, or does not answer within 30 seconds, counts as one that
    /// fails. The call succeeds all the same: an output that is too large is then cut for good, and the run itself
    /// keeps the bytes of an image or a file.
    async fn put(&self, blob: &Blob<'_>) -> Result<String, BlobError>;

    /// Returns the content at this URL, or `None` if the store has no content there.
    ///
    /// # Errors
    /// When the store cannot answer.
    async fn get(&self, url: &str) -> Result<Option<Vec<u8>>, BlobError>;
}

#[async_trait]
impl<B: BlobStore + ?Sized> BlobStore for Arc<B> {
    async fn put(&self, blob: &Blob<'_>) -> Result<String, BlobError> {
        (**self).put(blob).await
    }

    async fn get(&self, url: &str) -> Result<Option<Vec<u8>>, BlobError> {
        (**self).get(url).await
    }
}

/// Content to be stored: bytes, their media type and the tenant they belong to.
///
/// ```
/// # use agents_core as agents;
/// use agents::blob::Blob;
///
/// let blob = Blob::new("acme", "text/csv", b"a,b\n1,2\n");
/// assert_eq!((blob.tenant(), blob.bytes().len()), ("acme", 8));
/// // Equal contents of one tenant have one place: the digest of the content, below the tenant's own folder.
/// let place = format!("{}/{}", blob.folder(), blob.sha256());
/// assert_eq!(place.len(), 16 + 1 + 64);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Blob<'a> {
    tenant: &'a str,
    content_type: &'a str,
    bytes: &'a [u8],
}

impl<'a> Blob<'a> {
    /// Creates a blob of these bytes, with a media type, for a tenant.
    pub fn new(tenant: &'a str, content_type: &'a str, bytes: &'a [u8]) -> Self {
        Blob {
            tenant,
            content_type,
            bytes,
        }
    }

    /// Returns the tenant that the blob belongs to.
    pub fn tenant(&self) -> &'a str {
        self.tenant
    }

    /// Returns the media type of the content, such as `image/png`.
    pub fn content_type(&self) -> &'a str {
        self.content_type
    }

    /// Returns the bytes of the content.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the SHA-256 digest of the content as 64 lower-case hexadecimal digits. Equal contents have equal
    /// digests, so the digest serves as a name of a file.
    pub fn sha256(&self) -> String {
        hex(&hmac_sha256::Hash::hash(self.bytes))
    }

    /// Returns a path segment for the tenant, which is safe in any file system: the first 16 hexadecimal digits of the
    /// SHA-256 digest of the tenant's id.
    pub fn folder(&self) -> String {
        hex(&hmac_sha256::Hash::hash(self.tenant.as_bytes())[..8])
    }
}
