//! The examples as programs.

use std::{
    env::{self, consts::EXE_SUFFIX},
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// Folder of the built examples. Cargo builds them together with this test, unless only this test was requested. The
/// examples may then be missing or outdated, and are built here.
pub(crate) static EXAMPLES: LazyLock<PathBuf> = LazyLock::new(|| {
    let this = env::current_exe().unwrap();
    let profile = this.ancestors().nth(2).unwrap();
    let folder = profile.join("examples");
    if !names().iter().all(|name| is_fresh(&folder, name)) {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--examples", "--manifest-path"]);
        build.arg(package().join("Cargo.toml"));
        build.arg("--target-dir").arg(profile.parent().unwrap());
        match profile.file_name().unwrap().to_str().unwrap() {
            "debug" => &mut build,
            other => build.args(["--profile", other]),
        };
        assert!(
            build.status().unwrap().success(),
            "the examples are not built"
        );
    }
    folder
});

/// Returns the folder of the package that has the examples: that of this test, or the one that it is in.
fn package() -> &'static Path {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders
        .find(|folder| folder.join("examples").is_dir())
        .unwrap()
}

/// The names of the examples.
pub(crate) fn names() -> Vec<String> {
    let files = fs::read_dir(package().join("examples")).unwrap();
    let paths = files.map(|entry| entry.unwrap().path());
    // A folder without a `main.rs` holds packages of their own.
    let examples = paths.filter(|path| path.is_file() || path.join("main.rs").exists());
    let name = |path: PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    examples.map(name).collect()
}

/// Returns `true` if an example is built, and newer than every source file that Cargo lists for it.
fn is_fresh(folder: &Path, name: &str) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    let Some(built) = changed(&folder.join(format!("{name}{EXE_SUFFIX}"))) else {
        return false;
    };
    // `program: file file`, where a space of a name has a backslash before it.
    let list = fs::read_to_string(folder.join(format!("{name}.d"))).unwrap_or_default();
    let Some((_, files)) = list.split_once(": ") else {
        return false;
    };
    let files = files.trim().replace("\\ ", "\0");
    let files = files.split(' ').map(|file| file.replace('\0', " "));
    let mut changes = files.map(|file| changed(Path::new(&file)));
    changes.all(|change| change.is_some_and(|change| change <= built))
}
