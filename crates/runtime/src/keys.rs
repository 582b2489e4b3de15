//! Keys of tenants, which wrap the keys of runs. They are in a [`Keyring`], which the store does not know.

use crate::{RuntimeError, error::RuntimeErrorKind};
use agents_store::{AuditKey, Store};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fmt, fs, io,
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, SystemTime},
};

/// Keys of tenants, which wrap the keys of runs.
///
/// A tenant's key has versions. New data keys are wrapped with the latest version; older versions unwrap those from
/// before. A tenant whose keys are gone is erased: nobody can read the contents of its runs.
///
/// [`FileKeyring`] keeps the keys in a file. A keyring of your own may keep them in a service. Its methods are called
/// from async tasks and block them, so it should remember the keys that it has fetched.
///
/// ```
/// use agents::prelude::*;
/// use agents_runtime::{FileKeyring, Keyring, Runtime, SqliteStore, TenantKey};
/// use agents_store::AuditKey;
/// use std::io;
///
/// /// Gives keys to customers alone: nothing is stored for anybody else.
/// struct OfCustomers(FileKeyring);
///
/// impl Keyring for OfCustomers {
///     fn latest(&self, tenant: &str) -> io::Result<(u32, TenantKey)> {
///         match tenant {
///             "acme" | "initech" => self.0.latest(tenant),
///             other => Err(io::Error::other(format!("`{other}` is no customer"))),
///         }
///     }
///
///     fn version(&self, tenant: &str, version: u32) -> io::Result<Option<TenantKey>> {
///         self.0.version(tenant, version)
///     }
///
///     fn rotate(&self, tenant: &str) -> io::Result<()> {
///         self.0.rotate(tenant)
///     }
///
///     fn erase(&self, tenant: &str) -> io::Result<()> {
///         self.0.erase(tenant)
///     }
///
///     fn audit_key(&self) -> io::Result<AuditKey> {
///         self.0.audit_key()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("agents-doc-keyring-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("keys");
/// let keys = OfCustomers(FileKeyring::open(&path)?);
/// let runtime = Runtime::open(SqliteStore::in_memory().await?).keyring(keys);
/// let greeter = runtime.agent(AgentBuilder::<String, String>::new("greeter").build());
/// greeter.run("Ada").scope("acme").start().await?;
/// assert!(greeter.run("Eve").scope("globex").start().await.is_err());
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
pub trait Keyring: Send + Sync + 'static {
    /// Returns the latest key of a tenant with its version; a tenant without a key gets one.
    ///
    /// # Errors
    /// When the keyring cannot be read or written.
    fn latest(&self, tenant: &str) -> io::Result<(u32, TenantKey)>;

    /// Returns this version of a tenant's key; `None` if it is not there.
    ///
    /// # Errors
    /// When the keyring cannot be read.
    fn version(&self, tenant: &str, version: u32) -> io::Result<Option<TenantKey>>;

    /// Gives a tenant a new version of its key.
    ///
    /// # Errors
    /// When the keyring cannot be written.
    fn rotate(&self, tenant: &str) -> io::Result<()>;

    /// Destroys all versions of a tenant's key: nobody can read the contents of its runs any more, in the store and in its
    /// copies.
    ///
    /// # Errors
    /// When the keyring cannot be written.
    fn erase(&self, tenant: &str) -> io::Result<()>;

    /// Returns the key of the audit trail, which is the same for ever; a keyring without one gets one. It stays when a
    /// tenant is erased.
    ///
    /// # Errors
    /// When the keyring cannot be read or written.
    fn audit_key(&self) -> io::Result<AuditKey>;
}

/// Key of a tenant, which wraps the keys of the tenant's runs.
#[derive(Clone)]
pub struct TenantKey(pub(crate) [u8; 32]);

impl TenantKey {
    /// Creates a key of these bytes, which nobody else knows.
    pub fn new(bytes: [u8; 32]) -> Self {
        TenantKey(bytes)
    }

    fn random() -> io::Result<Self> {
        random().map(TenantKey)
    }
}

impl fmt::Debug for TenantKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TenantKey")
    }
}

pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes)
}

/// Returns random bytes that are the same as long as the process lives.
pub(crate) fn of_this_process() -> io::Result<[u8; 32]> {
    static BYTES: OnceLock<[u8; 32]> = OnceLock::new();
    match BYTES.get() {
        Some(bytes) => Ok(*bytes),
        None => random().map(|bytes| *BYTES.get_or_init(|| bytes)),
    }
}

/// Keys of each tenant (organisation), by the number of their version.
type Tenants = BTreeMap<String, BTreeMap<u32, String>>;

/// Keyring in a file. On Unix, only the user who owns the file can read it.
///
/// Each use looks at the file, and reads it again if it has changed or may have changed: so changes of the keys by
/// another process are noticed at once.
///
/// Whoever has the file can read the store; without it, nobody can. Keep a copy of the file, and keep it apart from the
/// copies of the store.
///
/// ```
/// use agents_runtime::{FileKeyring, Keyring};
/// # fn main() -> std::io::Result<()> {
/// # let folder = std::env::temp_dir().join(format!("agents-doc-keys-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("keys");
/// let keys = FileKeyring::open(&path)?; // a missing file is created with the first key
/// let (version, _) = keys.latest("acme")?;
/// assert_eq!(version, 1);
/// keys.rotate("acme")?;
/// assert_eq!(keys.latest("acme")?.0, 2);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
pub struct FileKeyring {
    path: PathBuf,
    /// Lock that is held while the file is read and written.
    writing: Mutex<()>,
    /// Keys of the last reading, and the state that the file had then: while the file has this state, it is not read
    /// again. `None` before the first reading, after a change by this keyring, and if the file had changed within the
    /// second before the last reading.
    known: Mutex<Option<(State, Arc<Keys>)>>,
}

/// Length of a file and time of its last change, by which changed contents are noticed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    modified: SystemTime,
    length: u64,
}

impl State {
    /// Time within which a file may change twice and keep the same time of its last change.
    const SAME: Duration = Duration::from_secs(1);

    fn of(metadata: &fs::Metadata) -> io::Result<Self> {
        Ok(State {
            modified: metadata.modified()?,
            length: metadata.len(),
        })
    }

    /// Returns `true` if the next change of the file will show in the state, because the last change is long enough
    /// ago.
    fn tells(&self) -> bool {
        let age = SystemTime::now().duration_since(self.modified);
        age.is_ok_and(|age| age > State::SAME)
    }
}

#[derive(Default, Serialize, Deserialize)]
struct File {
    agents_keyring: u32,
    keys: Tenants,
    /// Key with which the digests of the audit trail are made; `None` until it is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    audit: Option<String>,
}

/// Keys that the file of a keyring holds.
#[derive(Clone, Default)]
struct Keys {
    tenants: Tenants,
    audit: Option<String>,
}

impl Keys {
    fn parse(text: &str) -> io::Result<Self> {
        let unreadable = |why| io::Error::new(io::ErrorKind::InvalidData, why);
        let file: File = serde_json::from_str(text)
            .map_err(|error| unreadable(crate::wording::no_keyring(&error)))?;
        match file.agents_keyring {
            1 => Ok(Keys {
                tenants: file.keys,
                audit: file.audit,
            }),
            other => Err(unreadable(crate::wording::keyring_of_other_format(other))),
        }
    }
}

impl FileKeyring {
    /// Opens the keyring at this path. The file is created with the first key.
    ///
    /// # Errors
    /// When the file cannot be read or is no keyring, or when other users can read it (on Unix).
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let keyring = FileKeyring {
            path: path.as_ref().to_owned(),
            writing: Mutex::default(),
            known: Mutex::default(),
        };
        keyring.read()?;
        Ok(keyring)
    }

    /// Returns the keys in the file. The file is read only if it may have changed since the last reading. If there is
    /// no file, there are no keys.
    fn read(&self) -> io::Result<Arc<Keys>> {
        let read = || {
            let Some(state) = self.state()? else {
                return Ok(Arc::default());
            };
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((of, keys)) = &*known
                && *of == state
            {
                return Ok(keys.clone());
            }
            // If the file is replaced from now on, its next state is not the one that was looked at.
            let keys = Arc::new(Keys::parse(&fs::read_to_string(&self.path)?)?);
            *known = state.tells().then(|| (state, keys.clone()));
            Ok(keys)
        };
        read().map_err(|error: io::Error| {
            io::Error::new(error.kind(), crate::wording::of_keyring(&self.path, &error))
        })
    }

    /// Returns the state of the file of keys; `None` if there is no file. A file that other users can read is an error
    /// on Unix.
    fn state(&self) -> io::Result<Option<State>> {
        let metadata = match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata?,
        };
        #[cfg(unix)]
        if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o077 != 0 {
            let why = crate::wording::keyring_readable();
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        State::of(&metadata).map(Some)
    }

    /// Changes the keys in the file, under a lock that keeps all other processes out.
    fn change<T>(&self, change: impl FnOnce(&mut Keys) -> io::Result<T>) -> io::Result<T> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = self.beside(".lock");
        let unwritten = |error: io::Error| {
            let why = crate::wording::keyring_not_written(&self.path, &error);
            io::Error::new(error.kind(), why)
        };
        let lock = private(fs::OpenOptions::new().create(true).truncate(false), &lock);
        let lock = lock.map_err(unwritten)?;
        lock.lock().map_err(unwritten)?;
        let mut keys = Keys::clone(&*self.read()?);
        let result = change(&mut keys)?;
        self.write(keys).map_err(unwritten)?;
        Ok(result)
    }

    /// Writes these keys into the file, in place of those that are there.
    fn write(&self, keys: Keys) -> io::Result<()> {
        let file = File {
            agents_keyring: 1,
            keys: keys.tenants,
            audit: keys.audit,
        };
        let text = serde_json::to_string_pretty(&file)?;
        // A process that ends in the middle leaves the old keys.
        let new = self.beside(".new");
        let mut written = private(fs::OpenOptions::new().create(true).truncate(true), &new)?;
        written.write_all(text.as_bytes())?;
        written.sync_all()?;
        fs::rename(&new, &self.path)?;
        // Nobody here keeps a key that was erased.
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let folder = self
            .path
            .parent()
            .filter(|path| !path.as_os_str().is_empty());
        if let Ok(folder) = fs::File::open(folder.unwrap_or(Path::new("."))) {
            folder.sync_all()?;
        }
        Ok(())
    }

    fn beside(&self, end: &str) -> PathBuf {
        let mut path = self.path.as_os_str().to_owned();
        path.push(end);
        path.into()
    }
}

/// Opens a file for writing so that, on Unix, only the user who owns it can read it.
fn private(how: &mut fs::OpenOptions, path: &Path) -> io::Result<fs::File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(how, 0o600);
    how.write(true).open(path)
}

impl Keyring for FileKeyring {
    fn latest(&self, tenant: &str) -> io::Result<(u32, TenantKey)> {
        let latest = |keys: &Keys| {
            let (version, key) = keys.tenants.get(tenant)?.last_key_value()?;
            Some((*version, key_of(key)?))
        };
        let known = self.read()?;
        if let Some(latest) = latest(&known) {
            return Ok(latest);
        }
        self.change(|keys| {
            if let Some(latest) = latest(keys) {
                return Ok(latest);
            }
            let key = TenantKey::random()?;
            let of_tenant = keys.tenants.entry(tenant.to_owned()).or_default();
            of_tenant.insert(1, hex(&key.0));
            Ok((1, key))
        })
    }

    fn version(&self, tenant: &str, version: u32) -> io::Result<Option<TenantKey>> {
        let keys = self.read()?;
        let key = keys.tenants.get(tenant).and_then(|keys| keys.get(&version));
        Ok(key.and_then(|key| key_of(key)))
    }

    fn rotate(&self, tenant: &str) -> io::Result<()> {
        self.change(|keys| {
            let of_tenant = keys.tenants.entry(tenant.to_owned()).or_default();
            let next = of_tenant.keys().max().map_or(1, |last| last + 1);
            of_tenant.insert(next, hex(&TenantKey::random()?.0));
            Ok(())
        })
    }

    fn erase(&self, tenant: &str) -> io::Result<()> {
        self.change(|keys| {
            keys.tenants.remove(tenant);
            Ok(())
        })
    }

    fn audit_key(&self) -> io::Result<AuditKey> {
        let known = |keys: &Keys| Some(AuditKey::new(key_of(keys.audit.as_deref()?)?.0));
        let keys = self.read()?;
        if let Some(key) = known(&keys) {
            return Ok(key);
        }
        self.change(|keys| {
            if let Some(key) = known(keys) {
                return Ok(key);
            }
            let key: [u8; 32] = random()?;
            keys.audit = Some(hex(&key));
            Ok(AuditKey::new(key))
        })
    }
}

impl fmt::Debug for FileKeyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileKeyring")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// Keyring of a store in memory. The contents end with the process, so their key need not be secret: it is the same for
/// all runtimes of such stores.
struct MemoryKeyring;

impl Keyring for MemoryKeyring {
    fn latest(&self, _: &str) -> io::Result<(u32, TenantKey)> {
        Ok((1, TenantKey([0; 32])))
    }

    fn version(&self, _: &str, version: u32) -> io::Result<Option<TenantKey>> {
        Ok((version == 1).then_some(TenantKey([0; 32])))
    }

    fn rotate(&self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn erase(&self, _: &str) -> io::Result<()> {
        Err(io::Error::other(crate::wording::keys_in_memory()))
    }

    fn audit_key(&self) -> io::Result<AuditKey> {
        Ok(AuditKey::new([0; 32]))
    }
}

/// Opens the keyring that a store has by default.
pub(crate) fn default_keyring(store: &dyn Store) -> Result<Box<dyn Keyring>, RuntimeError> {
    if store.is_in_memory() {
        return Ok(Box::new(MemoryKeyring));
    }
    let Some(path) = store.keys_beside() else {
        return Err(crate::wording::keyring_missing());
    };
    FileKeyring::open(path)
        .map(|keyring| Box::new(keyring) as Box<dyn Keyring>)
        .map_err(|error| RuntimeError::new(RuntimeErrorKind::Sealed, error.to_string()))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn key_of(text: &str) -> Option<TenantKey> {
    let mut key = [0; 32];
    let pairs = text.as_bytes().chunks_exact(2);
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in key.iter_mut().zip(pairs) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(TenantKey(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_key::RunKey;

    /// A file that is not read is one whose contents may be anything.
    #[test]
    fn a_file_is_read_again_only_when_it_has_changed() {
        let path = std::env::temp_dir().join(format!("agents-keys-known-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let (one, other) = (
            FileKeyring::open(&path).unwrap(),
            FileKeyring::open(&path).unwrap(),
        );
        let first = one.latest("acme").unwrap().1;
        let modified = |ago: u64| {
            let file = fs::File::options().write(true).open(&path).unwrap();
            let at = SystemTime::now() - Duration::from_secs(ago);
            file.set_modified(at).unwrap();
            at
        };
        // A change that came just now may be followed by one of the same time, so that the file is read again.
        let whole = fs::read(&path).unwrap();
        assert_eq!(one.version("acme", 1).unwrap().unwrap().0, first.0);
        fs::write(&path, vec![b' '; whole.len()]).unwrap();
        assert!(one.version("acme", 1).is_err());
        fs::write(&path, &whole).unwrap();
        let at = modified(60);
        assert_eq!(one.version("acme", 1).unwrap().unwrap().0, first.0);
        fs::write(&path, vec![b' '; whole.len()]).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(at).unwrap();
        for _ in 0..100 {
            assert_eq!(one.version("acme", 1).unwrap().unwrap().0, first.0);
            assert_eq!(one.latest("acme").unwrap().0, 1);
        }
        assert!(other.latest("acme").is_err(), "it has not read it yet");
        fs::write(&path, &whole).unwrap();
        modified(50);
        assert_eq!(one.latest("acme").unwrap().0, 1);
        // Whatever another process changes counts at once.
        other.rotate("acme").unwrap();
        assert_eq!(one.latest("acme").unwrap().0, 2);
        assert_eq!(one.version("acme", 1).unwrap().unwrap().0, first.0);
        modified(40);
        assert_eq!(one.latest("acme").unwrap().0, 2);
        other.erase("acme").unwrap();
        assert!(one.version("acme", 1).unwrap().is_none());
        for end in ["", ".lock"] {
            let _ = fs::remove_file(format!("{}{end}", path.display()));
        }
    }

    #[test]
    fn a_keyring_that_cannot_be_written_names_its_path() {
        let nowhere = format!("agents-no-folder-{}", std::process::id());
        let path = std::env::temp_dir().join(nowhere).join("runs.db.keys");
        let keyring = FileKeyring::open(&path).unwrap();
        let said = keyring.latest("acme").err().unwrap();
        assert_eq!(said.kind(), io::ErrorKind::NotFound);
        let begin = format!("the keyring {} cannot be written: ", path.display());
        assert!(said.to_string().starts_with(&begin), "{said}");
        // A new file cannot take the place of a folder.
        let path = std::env::temp_dir().join(format!("agents-keys-new-{}", std::process::id()));
        let new = path.with_extension("new");
        fs::create_dir_all(&new).unwrap();
        let said = FileKeyring::open(&path).unwrap().latest("acme");
        let said = said.err().unwrap().to_string();
        let begin = format!("the keyring {} cannot be written: ", path.display());
        assert!(said.starts_with(&begin), "{said}");
        for end in ["", ".lock"] {
            let _ = fs::remove_file(format!("{}{end}", path.display()));
        }
        fs::remove_dir(new).unwrap();
    }

    #[test]
    fn keys_are_rotated_and_erased() {
        let path = std::env::temp_dir().join(format!("agents-keyring-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let keyring = FileKeyring::open(&path).unwrap();
        let (before, wrapped) = RunKey::create(&keyring, "acme", "run-1").unwrap();
        let sealed = before.seal("input", b"go").unwrap();
        keyring.rotate("acme").unwrap();
        let (_, later) = RunKey::create(&keyring, "acme", "run-2").unwrap();
        assert_eq!((wrapped[0], later[0]), (1, 2));
        let other = FileKeyring::open(&path).unwrap();
        let again = RunKey::open(&other, "acme", "run-1", &wrapped).unwrap();
        assert_eq!(again.unseal("input", &sealed).unwrap(), b"go");
        keyring.erase("acme").unwrap();
        let gone = RunKey::open(&other, "acme", "run-1", &wrapped)
            .err()
            .unwrap();
        assert!(gone.to_string().contains("erased"), "{gone}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            let open = FileKeyring::open(&path).unwrap_err();
            assert!(open.to_string().contains("chmod 600"), "{open}");
        }
        for end in ["", ".lock"] {
            let _ = fs::remove_file(format!("{}{end}", path.display()));
        }
    }
}
