//! Private files and folders. Their content is not encrypted, but on Unix only their owner may open
//! them. Folders that exist already keep their permissions. Errors name the file or
//! the folder.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Creates a file that only its owner can read; a file that exists already is an error.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().create_new(true))
}

/// Writes a file that only its owner can read, in the place of an earlier file. The content is first written under
/// another name, and that file is renamed, so that `path` never holds a part of it.
#[cfg(feature = "evals")]
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = Path::new(&part);
    let written = create_new(part)
        .and_then(|file| write_all(file, part, content))
        .and_then(|()| std::fs::rename(part, path).map_err(|error| of(path, error)));
    if written.is_err() {
        // The part that was written is of no use. The first error is returned.
        let _ = std::fs::remove_file(part);
    }
    written
}

/// Writes the content into the file at this path, and waits until the disk has it.
pub(crate) fn write_all(mut file: File, path: &Path, content: &[u8]) -> io::Result<()> {
    let written = file.write_all(content).and_then(|()| file.sync_all());
    written.map_err(|error| of(path, error))
}

fn open(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(how, 0o600);
    how.write(true).open(path).map_err(|error| of(path, error))
}

/// Creates a folder that only its owner can enter, and all missing folders above it in the same way. A folder that
/// exists already stays as it is.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    let mut how = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut how, 0o700);
    let created = how.recursive(true).create(path);
    created.map_err(|error| of(path, error))
}

/// Puts the path, which the system leaves out, before the text of an error.
pub(crate) fn of(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::write_all;
    use std::{fs::File, path::Path};

    #[test]
    fn an_error_of_writing_names_the_file() {
        let full = Path::new("/dev/full"); // a disk on which nothing is left
        let file = File::options().write(true).open(full).unwrap();
        let error = write_all(file, full, b"a").unwrap_err();
        assert!(error.to_string().starts_with("/dev/full: "), "{error}");
    }
}
