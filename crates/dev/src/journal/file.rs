//! A journal in a file: a line for each commit.
//!
//! ```text
//! {"agents_journal":1,"keyed":true,"digest":".."}
//! {"digest":"..","entries":[[1,1700000000000,0,0,{"started":..}],..]}
//! ```
//!
//! A digest covers the digest before it and the exact bytes of the entries. A line has no other spelling than this
//! one, so that its digest covers every byte of it.

#[cfg(feature = "recordings")]
use super::Recorded;
use super::{Entry, Journal, JournalError, Key, wording};
use crate::files;
use agents_core::async_trait;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{
    fmt,
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// Version of the format of a journal's file.
const FORMAT: u32 = 1;

/// A journal in a file.
///
/// Each commit is one line, which is written at once and synchronised with the disk before the commit returns. While
/// the journal is open it cannot be opened again, here or in another process. If the process or the machine ends in the
/// middle of a line, the next opening cuts that line off, and [`cut`](FileJournal::cut) returns its length. A complete
/// line that was altered is refused, and the run does not continue.
///
/// One handle may be used again, in an `Arc`: a second run with it continues where the first one ended, or returns
/// its outcome. Two runs at the same time are not possible: the second one to write is refused.
///
/// On Unix, a new file is readable by its owner alone. It is not encrypted.
pub struct FileJournal {
    path: PathBuf,
    cut: u64,
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    file: File,
    lines: Lines,
    /// Length of the file up to its last whole line, in bytes.
    end: u64,
    /// Reason why no more lines are written, after a write failed; `None` before that.
    failed: Option<JournalError>,
}

/// Lines of a journal's file that have been read or written.
struct Lines {
    key: Key,
    /// Digest of the last line; empty before the first one.
    digest: String,
    /// All entries so far, for a run that is given the open journal again.
    entries: Vec<Entry>,
}

/// Fields of the first line that are read before the whole line is compared with its expected text.
#[derive(Deserialize)]
struct Header {
    agents_journal: u32,
    keyed: bool,
}

/// Field of any other line that is read before the whole line is compared with its expected text.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    entries: &'a RawValue,
}

impl FileJournal {
    /// Opens a journal; a missing file is created.
    ///
    /// ```
    /// use agents::journal::{FileJournal, Key};
    /// # fn main() -> std::io::Result<()> {
    /// # let path = std::env::temp_dir().join(format!("agents-doc-open-{}", std::process::id()));
    /// let key = b"at least 16 bytes that nobody else knows";
    /// let journal = FileJournal::open(&path, key)?;
    /// assert!(journal.entries().is_empty()); // of a run that is about to begin
    ///
    /// // One process has the journal, and whoever has not the key cannot open it.
    /// assert!(FileJournal::open(&path, key).is_err());
    /// drop(journal);
    /// assert!(FileJournal::open(&path, Key::none()).is_err());
    /// # std::fs::remove_file(path)
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the file cannot be opened, is open already, is not a journal of a format that this version reads, was not
    /// written with `key` (with [`Key::none`]: was written with a key), or was altered.
    pub fn open(path: impl AsRef<Path>, key: impl Into<Key>) -> io::Result<FileJournal> {
        let path = path.as_ref();
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let error = io::Error::new(io::ErrorKind::WouldBlock, wording::OPEN_ALREADY);
                return Err(files::of(path, error));
            }
            Err(TryLockError::Error(error)) => return Err(files::of(path, error)),
        }
        let mut inner = Inner {
            file,
            lines: Lines::new(key.into()),
            end: 0,
            failed: None,
        };
        let cut = inner.load().map_err(|error| files::of(path, error))?;
        if cut > 0 {
            tracing::warn!(journal = %path.display(), bytes = cut, "a line that breaks off was cut off");
        }
        if !inner.lines.key.is_secret() {
            tracing::debug!(journal = %path.display(), "the journal has no key: its digests find accidents alone");
        }
        Ok(FileJournal {
            path: path.to_owned(),
            cut,
            inner: Arc::new(Mutex::new(inner)),
        })
    }

    /// Returns the number of bytes that were cut off when the journal was opened. They belong to an incomplete
    /// last line, which was never committed.
    ///
    /// ```
    /// use agents::journal::FileJournal;
    /// use std::{fs::OpenOptions, io::Write};
    /// # fn main() -> std::io::Result<()> {
    /// # let path = std::env::temp_dir().join(format!("agents-doc-cut-{}", std::process::id()));
    /// # let key = b"at least 16 bytes that nobody else knows";
    /// FileJournal::open(&path, key)?;
    /// // A machine lost its power while a line was being written:
    /// OpenOptions::new().append(true).open(&path)?.write_all(b"{\"digest\":\"4b")?;
    ///
    /// let journal = FileJournal::open(&path, key)?;
    /// assert_eq!(journal.cut(), 13);
    /// # std::fs::remove_file(path)
    /// # }
    /// ```
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns all entries of the journal so far.
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().lines.entries.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for FileJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileJournal")
            .field("path", &self.path)
            .field("key", &self.lock().lines.key)
            .finish_non_exhaustive()
    }
}

/// Opens a file, or creates one that only its owner may read. The folder of a new file is synchronised, so that the
/// file stays in it.
fn open(path: &Path) -> io::Result<File> {
    let is_new = !path.exists();
    let mut how = OpenOptions::new();
    how.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut how, 0o600);
    let file = how.open(path).map_err(|error| files::of(path, error))?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if is_new && let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        folder.sync_all().map_err(|error| files::of(path, error))?;
    }
    Ok(file)
}

impl Inner {
    /// Reads the file and cuts off an incomplete last line. Returns the number of bytes that were cut off.
    fn load(&mut self) -> io::Result<u64> {
        let mut bytes = Vec::new();
        self.file.read_to_end(&mut bytes)?;
        let whole = self.lines.read(&bytes)?;
        let cut = (bytes.len() - whole) as u64;
        if whole == 0 {
            self.begin()?;
            return Ok(cut);
        }
        self.end = whole as u64;
        if cut > 0 {
            self.file.set_len(self.end)?;
            self.file.sync_all()?;
        }
        Ok(cut)
    }

    /// Writes the first line of a new journal, which names the format and whether there is a key.
    fn begin(&mut self) -> io::Result<()> {
        let (digest, line) = header(&self.lines.key);
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(line.as_bytes())?;
        self.file.sync_all()?;
        self.end = line.len() as u64;
        self.lines.digest = digest;
        Ok(())
    }

    /// Writes one line with these entries, and waits until it is on the disk.
    fn append(&mut self, entries: Vec<Entry>) -> Result<(), JournalError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let last = self.lines.entries.last().map_or(0, Entry::seq);
        Entry::follows(last, &entries)?;
        if let Err(error) = self.write(&entries) {
            // A line that was written in part is not a commit.
            let _ = self.file.set_len(self.end);
            let error = JournalError::new(error.to_string());
            self.failed = Some(error.clone());
            return Err(error);
        }
        self.lines.entries.extend(entries);
        Ok(())
    }

    fn write(&mut self, entries: &[Entry]) -> io::Result<()> {
        let text = serde_json::to_string(entries)?;
        let (digest, line) = self.lines.next(&text);
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(line.as_bytes())?;
        self.file.sync_data()?;
        self.end += line.len() as u64;
        self.lines.digest = digest;
        Ok(())
    }
}

/// Returns the first line of a journal's file, and its digest.
fn header(key: &Key) -> (String, String) {
    let keyed = key.is_secret();
    let what = format!("{{\"agents_journal\":{FORMAT},\"keyed\":{keyed}");
    let digest = key.digest("", what.as_bytes());
    let line = format!("{what},\"digest\":\"{digest}\"}}\n");
    (digest, line)
}

impl Lines {
    fn new(key: Key) -> Self {
        Lines {
            key,
            digest: String::new(),
            entries: Vec::new(),
        }
    }

    /// Returns the next line of the file, with these entries, and its digest.
    fn next(&self, entries: &str) -> (String, String) {
        let digest = self.key.digest(&self.digest, entries.as_bytes());
        let line = format!("{{\"digest\":\"{digest}\",\"entries\":{entries}}}\n");
        (digest, line)
    }

    /// Reads all complete lines of the file, and returns their length in bytes. A line that was altered is an error.
    fn read(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let last = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = last.map_or(0, |at| at + 1);
        let mut lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n');
        let Some(first) = lines.next() else {
            return match bytes.is_empty() || is_beginning(bytes) {
                true => Ok(0),
                false => Err(not_a_journal(bytes)),
            };
        };
        self.check_header(first)?;
        for (number, line) in (2..).zip(lines) {
            self.read_line(number, line)?;
        }
        Ok(whole)
    }

    fn check_header(&mut self, line: &[u8]) -> io::Result<()> {
        let Ok(found) = serde_json::from_slice::<Header>(line) else {
            return Err(not_a_journal(line));
        };
        let format = found.agents_journal;
        if format != FORMAT {
            return Err(invalid(wording::of_other_format(format, FORMAT)));
        }
        match (found.keyed, self.key.is_secret()) {
            (true, false) => {
                return Err(invalid(wording::KEY_MISSING));
            }
            (false, true) => {
                return Err(invalid(wording::KEY_NEEDLESS));
            }
            (true, true) | (false, false) => {}
        }
        let (digest, expected) = header(&self.key);
        if line != expected.as_bytes() {
            return Err(invalid(wording::HEADER_ALTERED));
        }
        self.digest = digest;
        Ok(())
    }

    fn read_line(&mut self, number: usize, line: &[u8]) -> io::Result<()> {
        let first = self.entries.last().map_or(0, Entry::seq).saturating_add(1);
        let altered = || invalid(wording::line_altered(number, first));
        let Ok(read) = serde_json::from_slice::<Line<'_>>(line) else {
            return Err(altered());
        };
        let (digest, expected) = self.next(read.entries.get());
        if line != expected.as_bytes() {
            return Err(altered());
        }
        let entries: Vec<Entry> = serde_json::from_str(read.entries.get())
            .map_err(|error| invalid(format!("line {number}: {error}")))?;
        self.entries.extend(entries);
        self.digest = digest;
        Ok(())
    }
}

/// Writes entries as the text of a file without a key, a line for each.
#[cfg(feature = "recordings")]
pub(super) fn written(entries: &[Entry]) -> serde_json::Result<String> {
    let mut lines = Lines::new(Key::none());
    let (digest, mut text) = header(&lines.key);
    lines.digest = digest;
    for entry in entries {
        let (digest, line) = lines.next(&serde_json::to_string(&[entry])?);
        lines.digest = digest;
        text.push_str(&line);
    }
    Ok(text)
}

/// Reads the run from the text of a journal's file, as `include_str!` returns it. An incomplete last line is left
/// out.
///
/// ```
/// use agents::journal::{Key, recorded};
///
/// # use agents::{journal::{MemoryJournal, written}, prelude::*, testing::{Script, ScriptedModel}};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (model, _) = ScriptedModel::new([Script::text("Oslo")]);
/// # let geographer = AgentBuilder::<String, String>::new("geographer").model(model).build();
/// # let journal = MemoryJournal::new();
/// # geographer.run("Norway").journal(journal.clone()).await?;
/// # let text = &written(&journal.entries())?;
/// let run = recorded(text, Key::none())?; // in a test: `include_str!("run.jsonl")`
/// assert_eq!((run.agent(), run.input::<String>()?.as_str()), ("geographer", "Norway"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the text is not a journal of a format that this version reads, was not written with `key` (with [`Key::none`]:
/// was written with a key), was altered, or holds no run.
#[cfg(feature = "recordings")]
pub fn recorded(text: &str, key: impl Into<Key>) -> io::Result<Recorded> {
    let mut lines = Lines::new(key.into());
    lines.read(text.as_bytes())?;
    Recorded::of(lines.entries).map_err(|error| invalid(error.to_string()))
}

#[async_trait]
impl Journal for FileJournal {
    async fn read(&self) -> Result<Vec<Entry>, JournalError> {
        Ok(self.entries())
    }

    async fn append(&self, entries: &[Entry]) -> Result<(), JournalError> {
        let (inner, entries) = (self.inner.clone(), entries.to_vec());
        // Writing to a disk may take long.
        let written = tokio::task::spawn_blocking(move || {
            let mut inner = inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.append(entries)
        });
        written
            .await
            .unwrap_or_else(|error| Err(JournalError::new(error.to_string())))
    }
}

/// Returns `true` if these bytes are an incomplete first line, written by a process that ended while writing.
fn is_beginning(bytes: &[u8]) -> bool {
    let first = b"{\"agents_journal\":";
    let known = first.len().min(bytes.len());
    bytes[..known] == first[..known]
}

/// Creates the error for a file that is not a journal. The error says what the file is instead, if that is known.
fn not_a_journal(bytes: &[u8]) -> io::Error {
    let text = String::from_utf8_lossy(bytes);
    let is_snapshot = ["\"version\":", "\"run_id\":", "\"root\":"];
    if is_snapshot.iter().all(|part| text.contains(part)) {
        return invalid(wording::SNAPSHOT);
    }
    if text.starts_with("{\"tape\":") {
        return invalid(wording::RECORDING);
    }
    invalid(wording::NO_JOURNAL)
}

fn invalid(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}
