//! Where outputs go that are too large for a receipt.
//!
//! Of an output beyond [`max_output_bytes`](crate::agent::Run::max_output_bytes) the receipt and the
//! model get the beginning. With a [`BlobStore`] the whole is kept there, under its SHA-256, and the
//! receipt has an attachment that says where.
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

/// Why a store does not keep or give something.
pub type BlobError = Box<dyn StdError + Send + Sync>;

/// Where large outputs are kept.
#[async_trait]
pub trait BlobStore: Send + Sync + 'static {
    /// Keeps it, and says where: the same content, for the same tenant, is always in the same place.
    ///
    /// # Errors
    /// When it cannot be kept; the call succeeds all the same, and its output is cut.
    async fn put(&self, blob: &Blob<'_>) -> Result<String, BlobError>;

    /// What is kept at this place; `None` if nothing is.
    ///
    /// # Errors
    /// When that cannot be found out.
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

/// Something to keep.
#[derive(Clone, Copy, Debug)]
pub struct Blob<'a> {
    tenant: &'a str,
    content_type: &'a str,
    bytes: &'a [u8],
}

impl<'a> Blob<'a> {
    /// These bytes, of this media type, for this tenant.
    pub fn new(tenant: &'a str, content_type: &'a str, bytes: &'a [u8]) -> Self {
        Blob {
            tenant,
            content_type,
            bytes,
        }
    }

    /// For whom it is kept.
    pub fn tenant(&self) -> &'a str {
        self.tenant
    }

    /// Its media type.
    pub fn content_type(&self) -> &'a str {
        self.content_type
    }

    /// The bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Their SHA-256, in hexadecimal.
    pub fn sha256(&self) -> String {
        hex(&hmac_sha256::Hash::hash(self.bytes))
    }

    /// A name for the tenant that can be part of a path, whatever the tenant is called.
    pub fn folder(&self) -> String {
        hex(&hmac_sha256::Hash::hash(self.tenant.as_bytes())[..8])
    }
}
