//! Small disks, which tests fill.

use agents_needs::Need;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Small disk of its own, which is removed with the test.
pub(crate) struct Disk(PathBuf);

impl Disk {
    /// Mounts a disk of this size; `None` where only others may do so, which is said.
    pub(crate) fn new(name: &str, kilobytes: u32) -> Option<Disk> {
        let name = format!("agents-disk-{name}-{}", std::process::id());
        let disk = Disk(std::env::temp_dir().join(name));
        fs::create_dir(&disk.0).unwrap();
        let size = format!("size={kilobytes}k");
        if !mount(&["-t", "tmpfs", "-o", &size, "tmpfs"], &disk.0) {
            Need::Mount.missing("`mount` is not allowed");
            return None;
        }
        Some(disk)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// Mounts a disk into a folder; returns `false` where it is not allowed.
pub(crate) fn mount(how: &[&str], folder: &Path) -> bool {
    let mut mount = Command::new("mount");
    let mount = mount.args(how).arg(folder).stderr(Stdio::null());
    mount.status().is_ok_and(|status| status.success())
}

impl Drop for Disk {
    fn drop(&mut self) {
        let mut unmount = Command::new("umount");
        let _ = unmount
            .arg("-l")
            .arg(&self.0)
            .stderr(Stdio::null())
            .status();
        let _ = fs::remove_dir(&self.0);
    }
}
