//! Private files and folders: their content is not encrypted, but on Unix only their owner may open
//! them. Files that exist already keep their permissions.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    path::Path,
};

/// A new file, or an old one from its beginning.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().create(true).truncate(true))
}

/// A new file; an old one is an error.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().create_new(true))
}

fn open(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(how, 0o600);
    how.write(true).open(path)
}

/// A folder, with all above it that are not there.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut how = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut how, 0o700);
    how.recursive(true).create(path)
}
