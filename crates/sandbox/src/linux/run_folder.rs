use super::{command::NOBODY, seccomp::Filters};
use crate::folder::RUN;
use std::{
    env, fs, io,
    os::unix::fs::{DirBuilderExt, chown},
    path::{Path, PathBuf},
};
use uuid::Uuid;

/// Folder of one box on the host: it has the filters of system calls, and the files of the job. It is removed when this
/// value is dropped.
pub(super) struct RunFolder(PathBuf);

impl RunFolder {
    /// Creates the folder; it belongs to the user `nobody` if the programs run as that user.
    pub(super) fn create(
        filters: &Filters,
        files: &[(String, Vec<u8>)],
        steps_down: bool,
    ) -> io::Result<Self> {
        let path = env::temp_dir().join(format!("{RUN}{}", Uuid::new_v4().simple()));
        // The name is new, and nobody else can look in.
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        let folder = RunFolder(path);
        fs::create_dir(folder.input())?;
        fs::write(folder.killing(), &filters.killing)?;
        fs::write(folder.refusing(), &filters.refusing)?;
        fs::write(folder.families(), &filters.families)?;
        for (name, bytes) in files {
            fs::write(folder.input().join(name), bytes)?;
        }
        if steps_down {
            let mut paths = vec![folder.killing(), folder.refusing(), folder.families()];
            paths.extend(files.iter().map(|(name, _)| folder.input().join(name)));
            paths.extend([folder.input(), folder.0.clone()]);
            for path in paths {
                chown(path, Some(NOBODY), Some(NOBODY))?;
            }
        }
        Ok(folder)
    }

    /// Returns the folder with the files of the job, which the box has as `/input`.
    pub(super) fn input(&self) -> PathBuf {
        self.0.join("input")
    }

    /// Returns the file with the filter whose system calls kill the program.
    pub(super) fn killing(&self) -> PathBuf {
        self.0.join("killing")
    }

    /// Returns the file with the filter whose system calls fail.
    pub(super) fn refusing(&self) -> PathBuf {
        self.0.join("refusing")
    }

    /// Returns the file with the filter that refuses families of sockets.
    pub(super) fn families(&self) -> PathBuf {
        self.0.join("families")
    }

    #[cfg(test)]
    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            let folder: &Path = &self.0;
            tracing::warn!(folder = %folder.display(), %error, "the folder of a box is not removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_run_is_for_its_owner_alone_and_is_removed() {
        use std::os::unix::fs::PermissionsExt;
        let filters = Filters::compile().unwrap();
        let files = [("a.txt".to_owned(), b"text".to_vec())];
        let folder = RunFolder::create(&filters, &files, false).unwrap();
        let path = folder.path().to_owned();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(fs::read(path.join("input/a.txt")).unwrap(), b"text");
        drop(folder);
        assert!(!path.exists());
    }
}
