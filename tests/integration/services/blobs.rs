//! Too large outputs: they are cut at the limit, and kept in full if there is a store.

use crate::world::{agent_with, put_down, spec, told};
use agents::{
    Agent, Effects, async_trait,
    blob::{Blob, BlobError, BlobStore, DirectoryBlobs, MemoryBlobs},
    journal::MemoryJournal,
    run::{AttachmentKind, ToolEnvelope},
    testing::Script,
    tool::FnTool,
};
use serde_json::Value;
use std::{io, path::PathBuf, sync::Arc};

/// Creates a tool that returns this output.
fn gives(output: Value) -> FnTool {
    FnTool::with_spec(spec("dump", Effects::Reads), move |_, _| {
        let output = output.clone();
        async move { Ok::<_, io::Error>(output) }
    })
}

/// Runs a call with this output; returns its receipt, and the result as the model gets it.
async fn call(
    output: impl Into<Value>,
    limit: Option<usize>,
    store: Option<Arc<dyn BlobStore>>,
    tenant: &str,
) -> (Arc<ToolEnvelope>, String) {
    let script = [Script::call("dump", "{}"), Script::text("done")];
    let (agent, handle) = agent_with([gives(output.into())], script);
    let mut run = agent.run("go").scope(tenant);
    if let Some(limit) = limit {
        run = run.max_output_bytes(limit);
    }
    if let Some(store) = store {
        run = run.blobs(store);
    }
    let outcome = run.outcome().await.unwrap();
    let told = told(&handle).remove(0);
    (outcome.outputs.last_tool.unwrap(), told)
}

fn text(receipt: &ToolEnvelope) -> String {
    receipt.output.as_ref().unwrap().to().unwrap()
}

#[tokio::test]
async fn e15_three_megabytes_are_cut_and_kept_whole() {
    let whole = "abcdefghij".repeat(300_000);
    let store = Arc::new(MemoryBlobs::new());
    let (receipt, told) = call(whole.clone(), None, Some(store.clone()), "acme").await;
    assert!(receipt.truncated);
    assert_eq!(text(&receipt), whole[..2_000_000]);
    let [attachment] = &receipt.attachments[..] else {
        panic!("{:?}", receipt.attachments)
    };
    assert_eq!(attachment.kind, AttachmentKind::Blob);
    assert_eq!(attachment.bytes, Some(3_000_000));
    assert_eq!(
        attachment.content_type.as_deref(),
        Some("text/plain; charset=utf-8")
    );
    let digest = Blob::new("acme", "", whole.as_bytes()).sha256();
    assert!(attachment.url.ends_with(&digest), "{}", attachment.url);
    assert_eq!(
        store.get(&attachment.url).await.unwrap().unwrap(),
        whole.as_bytes()
    );
    assert!(told.starts_with(&whole[..2_000_000]));
    assert!(
        told.ends_with(
            "\n[cut: the first 2000000 of 3000000 bytes; the whole is kept, but not shown to you]"
        ),
        "{}",
        &told[2_000_000..]
    );
}

#[tokio::test]
async fn e15_letters_stay_whole_and_values_are_kept_as_json() {
    let store = Arc::new(MemoryBlobs::new());
    let (receipt, _) = call("äöü€".repeat(10), Some(8), Some(store.clone()), "").await;
    assert_eq!(text(&receipt), "äöü", "the euro would begin in byte 7");

    let value = serde_json::json!({"items": ["x".repeat(50)]});
    let (receipt, _) = call(value.clone(), Some(20), Some(store.clone()), "").await;
    let attachment = &receipt.attachments[0];
    assert_eq!(attachment.content_type.as_deref(), Some("application/json"));
    let kept = store.get(&attachment.url).await.unwrap().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&kept).unwrap(), value);
    // A text is measured without the quotes and escapes of its JSON, as the model gets it.
    let (receipt, _) = call("\n".repeat(20), Some(20), Some(store), "").await;
    assert!(!receipt.truncated && receipt.attachments.is_empty());
}

#[tokio::test]
async fn without_a_store_it_is_cut_and_that_is_all() {
    let (receipt, told) = call("x".repeat(50), Some(20), None, "").await;
    assert!(receipt.truncated && receipt.attachments.is_empty());
    assert!(
        told.ends_with("\n[cut: the first 20 of 50 bytes]"),
        "{told}"
    );
}

/// A store that fails.
enum Broken {
    Fails,
    Panics,
    Hangs,
}

#[async_trait]
impl BlobStore for Broken {
    async fn put(&self, _: &Blob<'_>) -> Result<String, BlobError> {
        match self {
            Broken::Fails => Err("the disk is full".into()),
            Broken::Panics => panic!("the disk is on fire"),
            Broken::Hangs => std::future::pending().await,
        }
    }

    async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, BlobError> {
        Ok(None)
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_work_costs_no_receipt() {
    for broken in [Broken::Fails, Broken::Panics, Broken::Hangs] {
        let (receipt, told) = call("x".repeat(50), Some(20), Some(Arc::new(broken)), "").await;
        assert!(receipt.is_ok() && receipt.truncated && receipt.attachments.is_empty());
        assert!(told.ends_with("of 50 bytes]"), "{told}");
    }
    let full = Arc::new(MemoryBlobs::new().max_bytes(40));
    let (receipt, _) = call("x".repeat(50), Some(20), Some(full), "").await;
    assert!(receipt.attachments.is_empty());
}

/// Creates a folder for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("agents blobs {name} {}", std::process::id());
        Folder(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn a_folder_keeps_each_content_once_for_each_tenant() {
    let folder = Folder::new("tenants");
    let store = DirectoryBlobs::new(&folder.0).unwrap();
    let mut urls = Vec::new();
    for tenant in ["acme", "acme", "../../evil", ""] {
        let shared: Arc<dyn BlobStore> = Arc::new(store.clone());
        let (receipt, _) = call("x".repeat(50), Some(20), Some(shared), tenant).await;
        let url = receipt.attachments[0].url.clone();
        assert!(url.starts_with("file:///") && !url.contains(' '), "{url}");
        assert_eq!(store.get(&url).await.unwrap().unwrap(), [b'x'; 50]);
        urls.push(url);
    }
    assert_eq!(urls[0], urls[1]);
    assert!(urls[2] != urls[0] && urls[3] != urls[0] && urls[2] != urls[3]);
    let tenants = std::fs::read_dir(&folder.0).unwrap().count();
    assert_eq!(tenants, 3);
    for file in std::fs::read_dir(&folder.0).unwrap() {
        let files: Vec<_> = std::fs::read_dir(file.unwrap().path()).unwrap().collect();
        assert_eq!(files.len(), 1, "{files:?}");
    }
    // The store returns only files that it keeps.
    let base = urls[0].rsplit_once('/').unwrap().0;
    for foreign in [
        "file:///etc/passwd".to_owned(),
        format!("{base}/../../../etc/passwd"),
        format!("{base}/00ff"),
        "memory:00/11".to_owned(),
    ] {
        assert_eq!(store.get(&foreign).await.unwrap(), None, "{foreign}");
    }
}

#[tokio::test]
async fn a_file_that_was_changed_is_not_given_and_is_kept_anew() {
    let folder = Folder::new("changed");
    let store = DirectoryBlobs::new(&folder.0).unwrap();
    let blob = Blob::new("acme", "text/plain", b"the whole truth");
    let url = store.put(&blob).await.unwrap();
    let file = folder.0.join(blob.folder()).join(blob.sha256());
    std::fs::write(&file, b"the whole lie").unwrap();
    let error = store.get(&url).await.unwrap_err().to_string();
    assert!(error.ends_with("is not what was kept there"), "{error}");
    assert_eq!(store.put(&blob).await.unwrap(), url);
    assert_eq!(store.get(&url).await.unwrap().unwrap(), blob.bytes());
}

#[tokio::test]
async fn a_stored_run_still_knows_where_the_whole_is() {
    let journal = MemoryJournal::new();
    let script = [Script::call("dump", "{}"), Script::text("done")];
    let (agent, _) = agent_with([gives("x".repeat(50).into())], script);
    let run = agent
        .run("go")
        .max_output_bytes(20)
        .blobs(MemoryBlobs::new());
    let whole = run.journal(journal.clone()).outcome().await.unwrap();
    let mut settled = put_down(&journal);
    settled.retain(|at| at.count("settled") == 1);
    assert!(!settled.is_empty());
    for at in settled {
        let rest = [Script::text("done"), Script::text("done")];
        let rest = rest.into_iter().skip(at.replies() - 1);
        let (agent, _) = agent_with([gives("x".into())], rest);
        let run = agent.run("go").max_output_bytes(20);
        let resumed = run.journal(at.journal()).outcome().await.unwrap();
        assert_eq!(resumed.outputs, whole.outputs, "{at}");
        let last = resumed.outputs.last_tool.unwrap();
        assert_eq!(last.attachments.len(), 1, "{at}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_reads_what_is_kept() {
    use agents::journal::{FileJournal, Key};
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("mode");
    let deep = folder.0.join("deep");
    let blobs = DirectoryBlobs::new(&deep).unwrap();
    let blob = Blob::new("acme", "text/plain", b"a whole output");
    blobs.put(&blob).await.unwrap();
    let tenant = deep.join(blob.folder());
    let file = tenant.join(blob.sha256());
    let recorded = folder.0.join("run.jsonl");
    drop(FileJournal::open(&recorded, Key::none()).unwrap());
    for (path, mode) in [
        (&*folder.0, 0o700),
        (&*deep, 0o700),
        (&*tenant, 0o700),
        (&*file, 0o600),
        (&*recorded, 0o600),
    ] {
        let found = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode, "{}", path.display());
    }
    // The permissions of an existing file are kept.
    std::fs::set_permissions(&recorded, PermissionsExt::from_mode(0o640)).unwrap();
    drop(FileJournal::open(&recorded, Key::none()).unwrap());
    let kept = std::fs::metadata(&recorded).unwrap().permissions().mode();
    assert_eq!(kept & 0o777, 0o640);
}
