use crate::{Unenforced, wording};
use std::path::{Component, Path, PathBuf};

/// Folder or file of the host that is mounted into the box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folder {
    pub(crate) source: PathBuf,
    /// Path in the box.
    pub(crate) at: PathBuf,
    pub(crate) is_writable: bool,
}

/// Paths of the box that no folder may cover, nor stand within, except for those below `/tmp`.
const OWN: [&str; 9] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/dev", "/proc",
];

/// Paths of the host that would open the box.
const NEVER: [&str; 3] = ["/proc", "/sys", "/dev"];

impl Folder {
    /// Checks the folder, and returns it with the real path of its source.
    pub(crate) fn checked(&self) -> Result<Folder, Unenforced> {
        let refused = |why: &str| Err(Unenforced::new(wording::folder_refused(&self.source, why)));
        let Ok(source) = self.source.canonicalize() else {
            return refused(wording::FOLDER_NOT_FOUND);
        };
        if source == Path::new("/") || NEVER.iter().any(|path| source.starts_with(path)) {
            return refused(wording::FOLDER_NEVER);
        }
        let is_plain = self
            .at
            .components()
            .all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        let covers =
            |path: &str| self.at.starts_with(path) || Path::new(path).starts_with(&self.at);
        let is_own = OWN.into_iter().any(covers)
            || Path::new("/tmp").starts_with(&self.at)
            || covers("/input")
            || covers("/tmp/home");
        match self.at.is_absolute() && is_plain && !is_own {
            true => Ok(Folder {
                source,
                ..self.clone()
            }),
            false => refused(&wording::folder_misplaced(&self.at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(source: &str, at: &str) -> Result<Folder, Unenforced> {
        let folder = Folder {
            source: source.into(),
            at: at.into(),
            is_writable: false,
        };
        folder.checked()
    }

    #[test]
    fn folders_that_would_open_the_box_are_refused() {
        for source in [
            "/",
            "/proc",
            "/proc/self",
            "/sys",
            "/dev",
            "/no/such/folder",
        ] {
            assert!(checked(source, "/data").is_err(), "{source}");
        }
        for at in [
            "/",
            "data",
            "/data/../usr",
            "/usr",
            "/usr/bin",
            "/etc/x",
            "/tmp",
            "/tmp/home",
            "/input",
            "/proc/1",
        ] {
            assert!(checked("/usr", at).is_err(), "{at}");
        }
        for at in ["/data", "/srv/data", "/tmp/data", "/usrdata"] {
            assert!(checked("/usr", at).is_ok(), "{at}");
        }
    }
}
