//! Storage for tool outputs that are too large for a receipt; see [`agents_core::blob`] for how it
//! works.
//!
//! [`DirectoryBlobs`] stores them as files.

use crate::files;
pub use agents_core::blob::*;

use agents_core::async_trait;
use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};
use tokio::task::spawn_blocking;

/// A blob store in a directory, with files `<folder>/<tenant>/<sha256>`, where the tenant is a
/// digest of its name.
///
/// On Unix only their owner may read the files and folders that are created. Blobs stay until they are deleted by
/// hand. A file whose content does not match its name is never returned, and is rewritten when the same content is
/// stored again.
///
/// ```
/// use agents::blob::{BlobStore, DirectoryBlobs};
/// # use agents::{Effects, prelude::*, testing::{Script, ScriptedModel}, tool::FnTool};
/// # use serde_json::json;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// # let schema = json!({"type": "object"});
/// # let tool = FnTool::new("dump", "Dumps.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("x".repeat(3000)) });
/// # let (model, _) = ScriptedModel::new([Script::call("dump", "{}"), Script::text("done")]);
/// # let agent = AgentBuilder::<String, String>::new("clerk").tool(tool).model(model).build();
/// # let folder = std::env::temp_dir().join(format!("agents-blobs-{}", std::process::id()));
/// let blobs = DirectoryBlobs::new(&folder)?;
/// let run = agent.run("Dump it.").max_output_bytes(1000).blobs(blobs.clone());
/// let receipt = run.outcome().await?.outputs.last_tool.unwrap();
///
/// let whole = &receipt.attachments[0];
/// assert!(whole.url.starts_with("file:///"));
/// assert_eq!(blobs.get(&whole.url).await?.unwrap().len(), 3000);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DirectoryBlobs {
    folder: PathBuf,
}

impl DirectoryBlobs {
    /// Creates a store in this directory. A missing directory is created; an existing one keeps its permissions.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub fn new(folder: impl AsRef<Path>) -> io::Result<Self> {
        files::create_folder(folder.as_ref())?;
        let folder = folder.as_ref().canonicalize()?;
        Ok(DirectoryBlobs { folder })
    }

    /// Returns the file behind a URL; `None` if the URL does not have the form of this store's URLs.
    fn file(&self, url: &str) -> Option<PathBuf> {
        let (tenant, blob) = url.strip_prefix(&self.url_of(""))?.split_once('/')?;
        let ours = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit());
        (ours(tenant) && ours(blob)).then(|| self.folder.join(tenant).join(blob))
    }

    fn url_of(&self, place: &str) -> String {
        let mut url = String::from("file://");
        for byte in self.folder.to_string_lossy().bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                    url.push(char::from(byte));
                }
                _ => url.push_str(&format!("%{byte:02X}")),
            }
        }
        url.push('/');
        url.push_str(place);
        url
    }
}

#[async_trait]
impl BlobStore for DirectoryBlobs {
    async fn put(&self, blob: &Blob<'_>) -> Result<String, BlobError> {
        let (tenant, name) = (blob.folder(), blob.sha256());
        let url = self.url_of(&format!("{tenant}/{name}"));
        let folder = self.folder.join(tenant);
        let bytes = blob.bytes().to_vec();
        spawn_blocking(move || write(&folder, &name, &bytes)).await??;
        Ok(url)
    }

    async fn get(&self, url: &str) -> Result<Option<Vec<u8>>, BlobError> {
        let Some(file) = self.file(url) else {
            return Ok(None);
        };
        match spawn_blocking(move || read(&file)).await? {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the content of a blob's file, or an error if the content's digest is not the file's name.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let bytes = fs::read(file)?;
    let digest = Blob::new("", "", &bytes).sha256();
    match file.file_name().is_some_and(|name| *name == *digest) {
        true => Ok(bytes),
        false => {
            let message = format!("`{}` is not what was kept there", file.display());
            Err(io::Error::new(ErrorKind::InvalidData, message))
        }
    }
}

/// Writes a file, unless it is there with its whole content. The file is written under another name first and then
/// renamed, so that its name always stands for the whole content.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let whole = folder.join(name);
    if read(&whole).is_ok() {
        return Ok(());
    }
    files::create_folder(folder)?;
    let nth = NEXT.fetch_add(1, Relaxed);
    let part = folder.join(format!("{name}.{}.{nth}.part", std::process::id()));
    let written = files::create_new(&part)
        .and_then(|file| files::write_all(file, &part, bytes))
        .and_then(|()| fs::rename(&part, &whole).map_err(|error| files::of(&whole, error)));
    if written.is_err() {
        // The part that was written is of no use. The first error is returned.
        let _ = fs::remove_file(&part);
    }
    written
}
