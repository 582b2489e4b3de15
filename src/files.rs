//! Private files and folders: their content is not encrypted, but on Unix only their owner may open
//! them. Files that exist already keep their permissions. Every error says which file it is about.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
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
    how.write(true).open(path).map_err(|error| of(path, error))
}

/// The text of a file that may end within a character, of which the beginning is left out.
pub(crate) fn text(path: &Path) -> io::Result<String> {
    let mut bytes = fs::read(path).map_err(|error| of(path, error))?;
    if let Err(error) = str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes)
        .map_err(|error| of(path, io::Error::new(io::ErrorKind::InvalidData, error)))
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
