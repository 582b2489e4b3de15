use super::{run_folder::RunFolder, seccomp::Filters};
use crate::{Sandbox, Unenforced, folder::Folder, wording};
use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Number of the user and group of the programs inside the box; outside of it too, if the agent runs as root.
pub(super) const NOBODY: u32 = 65_534;

/// Folders of the host in which the programs that make the box are looked for. `PATH` is not asked, since it may name
/// other ones.
const FOLDERS: [&str; 3] = ["/usr/bin", "/bin", "/usr/local/bin"];

/// Script that runs before bubblewrap. It closes all files that the agent may have left open for its children, since a
/// folder among them would lead out of the box. Then it opens the files with the filters of system calls. Its arguments
/// are these files and the command.
const SCRIPT: &str = r#"
for fd in /proc/self/fd/*; do
    fd=${fd##*/}
    if ((fd > 2)); then exec {fd}>&-; fi
done
exec 3<"$1" 4<"$2" 5<"$3" || exit 1
shift 3
exec "$@"
"#;

/// Programs, folders and filters with which the boxes of a tool are started; they are the same for all.
pub(super) struct Launcher {
    bash: PathBuf,
    bwrap: PathBuf,
    pub(super) filters: Filters,
    folders: Vec<Folder>,
    /// Is `true` if the agent runs as root, so that the programs run as another user.
    pub(super) steps_down: bool,
}

impl Launcher {
    /// Checks the variables and the folders of a box, finds the programs that make it, and compiles the filters of
    /// system calls.
    pub(super) fn find(sandbox: &Sandbox) -> Result<Self, Unenforced> {
        for (name, _) in &sandbox.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(Unenforced::new(wording::not_a_variable(name)));
            }
        }
        if let Some((name, _)) = sandbox.env.iter().find(|(name, _)| name.starts_with("LD_")) {
            return Err(Unenforced::new(wording::variable_of_loader(name)));
        }
        if let Some((name, _)) = sandbox.env.iter().find(|(_, value)| value.contains('\0')) {
            return Err(Unenforced::new(wording::not_a_variable(name)));
        }
        find("prlimit", "util-linux", &["/usr/bin"])?;
        find("timeout", "coreutils", &["/usr/bin"])?;
        Ok(Launcher {
            bash: find("bash", "bash", &FOLDERS)?,
            bwrap: find("bwrap", "bubblewrap", &FOLDERS)?,
            filters: Filters::compile()?,
            folders: Folder::all_checked(&sandbox.folders)?,
            steps_down: is_root(),
        })
    }

    /// Returns a mounted folder that is gone, or was replaced by a link, since the tool was made; `None` if all are in
    /// place.
    pub(super) fn moved(&self) -> Option<&Path> {
        let moved = self.folders.iter().find(|folder| !folder.is_in_place());
        moved.map(|folder| &*folder.source)
    }

    /// Returns the command that runs a program in a new box.
    pub(super) fn command<A: AsRef<OsStr>>(
        &self,
        sandbox: &Sandbox,
        run: &RunFolder,
        program: &Path,
        args: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = Command::new(&self.bash);
        command.args(["--norc", "--noprofile", "-c", SCRIPT, "sandbox"]);
        command.args([run.killing(), run.refusing(), run.families()]);
        command.arg(&self.bwrap);
        command.args(self.namespaces_and_mounts(sandbox, run));
        command.arg("--").args(limits(sandbox));
        command.arg(program).args(args);
        // The first process of the box keeps this environment, and the program can read it.
        command.env_clear().current_dir("/");
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if self.steps_down {
            // Other groups are dropped with that.
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn namespaces_and_mounts(&self, sandbox: &Sandbox, run: &RunFolder) -> Vec<OsString> {
        let mut args = Args::default();
        args.all([
            "--unshare-user",
            "--unshare-ipc",
            "--unshare-pid",
            "--unshare-net",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--disable-userns",
            "--die-with-parent",
            "--new-session",
        ]);
        args.all(["--uid", &NOBODY.to_string(), "--gid", &NOBODY.to_string()]);
        args.all(["--hostname", "box", "--cap-drop", "ALL", "--clearenv"]);
        args.all(["--setenv", "PATH", "/usr/bin:/bin"]);
        args.all(["--setenv", "HOME", "/tmp/home"]);
        args.all(["--setenv", "LANG", "C.UTF-8"]);
        for (name, value) in &sandbox.env {
            args.all(["--setenv", name, value]);
        }
        args.all(["--ro-bind", "/usr", "/usr"]);
        for folder in ["/bin", "/sbin", "/lib", "/lib32", "/lib64"] {
            // Where these are links into `/usr`, they are the same links in the box.
            match fs::read_link(folder) {
                Ok(target) => {
                    args.all([OsStr::new("--symlink"), target.as_os_str(), folder.as_ref()])
                }
                Err(_) => args.all(["--ro-bind-try", folder, folder]),
            }
        }
        for file in ["/etc/ld.so.cache", "/etc/alternatives"] {
            args.all(["--ro-bind-try", file, file]);
        }
        let disk = sandbox.disk.to_string();
        args.all(["--proc", "/proc", "--dev", "/dev"]);
        args.all(["--size", &disk, "--tmpfs", "/dev/shm"]);
        args.all(["--size", &disk, "--tmpfs", "/tmp", "--dir", "/tmp/home"]);
        args.all([
            OsStr::new("--ro-bind"),
            run.input().as_os_str(),
            OsStr::new("/input"),
        ]);
        for folder in &self.folders {
            let mount = if folder.is_writable {
                "--bind"
            } else {
                "--ro-bind"
            };
            args.all([
                OsStr::new(mount),
                folder.source.as_os_str(),
                folder.at.as_os_str(),
            ]);
        }
        // What bubblewrap made for the mounts is writable until here, and its size has no limit.
        args.all(["--remount-ro", "/dev", "--remount-ro", "/"]);
        args.all(["--chdir", "/tmp/home"]);
        for filter in ["3", "4", "5"] {
            args.all(["--add-seccomp-fd", filter]);
        }
        args.0
    }
}

/// Arguments of the command that starts a box, one after the other.
#[derive(Default)]
struct Args(Vec<OsString>);

impl Args {
    fn all<A: AsRef<OsStr>>(&mut self, args: impl IntoIterator<Item = A>) {
        self.0
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
    }
}

/// Number of processes in the box that are not the program's: the first one, and `timeout`.
const OUR_PROCESSES: u32 = 2;

/// Returns the words of the commands that stand in front of the program, and limit it.
fn limits(sandbox: &Sandbox) -> Vec<String> {
    let cpu = sandbox.cpu_seconds();
    vec![
        "/usr/bin/prlimit".to_owned(),
        "--core=0".to_owned(),
        "--msgqueue=0".to_owned(),
        "--memlock=0".to_owned(),
        // The first limit sends a signal of its own, which tells it from other kills. The second one cannot be ignored.
        format!("--cpu={cpu}:{}", cpu.saturating_add(1)),
        format!("--as={0}:{0}", sandbox.memory),
        format!("--nofile={0}:{0}", sandbox.open_files),
        format!("--fsize={0}:{0}", sandbox.file_size),
        format!("--nproc={0}:{0}", nproc(sandbox)),
        "/usr/bin/timeout".to_owned(),
        "--signal=KILL".to_owned(),
        // Only if the agent did not end the box itself.
        sandbox.time_seconds().saturating_add(1).to_string(),
    ]
}

pub(super) fn nproc(sandbox: &Sandbox) -> u32 {
    sandbox.processes.saturating_add(OUR_PROCESSES)
}

/// Finds a program of the host in these folders. The error names the package of Debian that has it.
fn find(name: &str, package: &str, folders: &[&str]) -> Result<PathBuf, Unenforced> {
    let mut paths = folders.iter().map(|folder| Path::new(folder).join(name));
    paths
        .find(|path| path.is_file())
        .ok_or_else(|| Unenforced::new(wording::program_missing(name, package)))
}

/// Returns `true` if the agent's process acts as root, or if its user cannot be read.
fn is_root() -> bool {
    // The second number is the user in whose name this process acts. If that cannot be read, stepping down is tried.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let user = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    user.and_then(|ids| ids.split_whitespace().nth(1))
        .is_none_or(|id| id == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_missing_is_named_with_its_package() {
        let error = find("bwrap", "bubblewrap", &["/proc", "/no/such/folder"]).unwrap_err();
        assert!(error.to_string().contains("`bwrap`"), "{error}");
        assert!(error.to_string().contains("`bubblewrap`"), "{error}");
    }
}
