use crate::{Unenforced, wording};
use std::{
    env,
    path::{Component, Path, PathBuf},
};

/// Folder or file of the host that is mounted into the box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folder {
    pub(crate) source: PathBuf,
    /// Path at which the box has the folder or file.
    pub(crate) at: PathBuf,
    pub(crate) is_writable: bool,
}

/// Paths of the box that no mounted folder may cover, nor stand within, except for those below `/tmp`.
const OWN: [&str; 9] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/dev", "/proc",
];

/// Paths of the host that are never mounted, since they would let a program out of the box.
const NEVER: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Begin of the names of the folders that the boxes have on the host, in its temporary folder.
pub(crate) const RUN: &str = "agents-sandbox-";

impl Folder {
    /// Checks all folders of a box, each one and against the others, and returns them with the real paths of their sources.
    pub(crate) fn all_checked(folders: &[Folder]) -> Result<Vec<Folder>, Unenforced> {
        let folders = folders
            .iter()
            .map(Folder::checked)
            .collect::<Result<Vec<_>, _>>()?;
        for (index, writable) in folders.iter().enumerate().filter(|(_, f)| f.is_writable) {
            for (other, folder) in folders.iter().enumerate() {
                // A program could put a link in the place of the other source, which the next box would follow.
                if other != index && folder.source.starts_with(&writable.source) {
                    let why = wording::folder_in_writable(&writable.source);
                    return Err(Unenforced::new(wording::folder_refused(
                        &folder.source,
                        &why,
                    )));
                }
                // A link in the writable folder would lead the mount astray.
                if other != index && folder.at.starts_with(&writable.at) {
                    let why = wording::place_in_writable(&folder.at, &writable.at);
                    return Err(Unenforced::new(wording::folder_refused(
                        &folder.source,
                        &why,
                    )));
                }
            }
        }
        Ok(folders)
    }

    /// Returns `true` if the path of a checked folder still leads to the same place, with no link in between.
    pub(crate) fn is_in_place(&self) -> bool {
        self.source
            .canonicalize()
            .is_ok_and(|source| source == self.source)
    }

    /// Checks one folder, and returns it with the real path of its source.
    fn checked(&self) -> Result<Folder, Unenforced> {
        let refused = |why: &str| Err(Unenforced::new(wording::folder_refused(&self.source, why)));
        let Ok(source) = self.source.canonicalize() else {
            return refused(wording::FOLDER_NOT_FOUND);
        };
        if source == Path::new("/") || NEVER.iter().any(|path| source.starts_with(path)) {
            return refused(wording::FOLDER_NEVER);
        }
        if has_runs(&source) {
            return refused(wording::FOLDER_OF_RUNS);
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

/// Returns `true` if this path of the host holds folders of boxes, or is in one. They are never mounted, since they
/// have the filters and the input of boxes.
fn has_runs(source: &Path) -> bool {
    let temporary = env::temp_dir();
    let temporary = temporary.canonicalize().unwrap_or(temporary);
    let in_run = source.strip_prefix(&temporary).ok().and_then(|rest| {
        let first = rest.components().next()?;
        Some(first.as_os_str().to_string_lossy().starts_with(RUN))
    });
    temporary.starts_with(source) || in_run == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use uuid::Uuid;

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

    /// Folder that is removed at the end of a test.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Self {
            let name = format!("{name}-{}", Uuid::new_v4().simple());
            let path = env::temp_dir().canonicalize().unwrap().join(name);
            fs::create_dir_all(path.join("a/b")).unwrap();
            fs::create_dir_all(path.join("ab")).unwrap();
            Temporary(path)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn folders_that_overlap_and_can_be_written_are_refused() {
        let root = Temporary::new("agents-folders");
        let all = |folders: &[(&str, &str, bool)]| {
            let folder = |&(source, at, is_writable): &(&str, &str, bool)| Folder {
                source: root.0.join(source),
                at: at.into(),
                is_writable,
            };
            let folders: Vec<_> = folders.iter().map(folder).collect();
            Folder::all_checked(&folders)
        };
        for (first, second, named) in [
            (("a", "/x", true), ("a/b", "/y", false), "a/b"),
            (("a/b", "/x", false), ("a", "/y", true), "a/b"),
            (("a", "/x", true), ("a", "/y", false), "/a"),
            (("a", "/x", true), ("a", "/y", true), "/a"),
            (("a", "/x", true), ("ab", "/x/y", false), "/x/y"),
            (("ab", "/x/y", true), ("a", "/x", true), "/x/y"),
            (("a", "/x", true), ("ab", "/x", false), "/x"),
        ] {
            let error = all(&[first, second]).unwrap_err().to_string();
            assert!(error.contains(named), "{first:?} {second:?}: {error}");
        }
        for (first, second) in [
            (("a", "/x", true), ("ab", "/xy", true)),
            (("a", "/x", false), ("a/b", "/y", false)),
            // What cannot be written cannot be replaced.
            (("a", "/x", false), ("a/b", "/y", true)),
            (("a", "/x", false), ("ab", "/x/y", true)),
        ] {
            assert!(all(&[first, second]).is_ok(), "{first:?} {second:?}");
        }
    }

    #[test]
    fn folders_of_runs_are_refused() {
        let run = Temporary::new("agents-sandbox");
        let temporary = env::temp_dir();
        for source in [&temporary, &run.0, &run.0.join("a")] {
            let error = checked(&source.to_string_lossy(), "/data").unwrap_err();
            assert!(error.to_string().contains("temporary folder"), "{error}");
        }
        let other = Temporary::new("agents-folders");
        assert!(checked(&other.0.to_string_lossy(), "/data").is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn a_source_that_has_become_a_link_is_not_in_place() {
        let root = Temporary::new("agents-folders");
        let folder = checked(&root.0.join("a/b").to_string_lossy(), "/data").unwrap();
        assert!(folder.is_in_place());
        fs::remove_dir_all(root.0.join("a")).unwrap();
        assert!(!folder.is_in_place());
        std::os::unix::fs::symlink(&root.0, root.0.join("a")).unwrap();
        fs::create_dir(root.0.join("b")).unwrap();
        assert!(folder.source.is_dir() && !folder.is_in_place());
    }
}
