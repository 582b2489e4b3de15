//! Private files and folders: their content is not encrypted, but on Unix only their owner may open
//! them. Files that exist already keep their permissions. Every error says which file it is about.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    path::Path,
};

/// A new file; an old one is an error.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().create_new(true))
}

fn open(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(how, 0o600);
    how.write(true).open(path).map_err(|error| of(path, error))
}

/// A folder, with all above it that are not there.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut how = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut how, 0o700);
    let created = how.recursive(true).create(path);
    created.map_err(|error| of(path, error))
}

/// The same error, with the path that the system leaves out.
pub(crate) fn of(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
