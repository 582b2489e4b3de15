use super::{
    Ready,
    command::{NOBODY, nproc},
    run_folder::RunFolder,
};
use crate::{Unenforced, output, wording};
use std::{
    ffi::OsStr,
    io::Read,
    path::Path,
    process::Child,
    thread,
    time::{Duration, Instant},
};

/// Script that runs in the first box, and prints what it finds there. Its arguments are the program, and then the
/// writable folders.
const SCRIPT: &str = r#"
while IFS= read -r line; do echo "status $line"; done < /proc/self/status
while IFS= read -r line; do echo "limit $line"; done < /proc/self/limits
while read -r name rest; do case $name in *:) echo "network $name";; esac; done < /proc/net/dev
for fd in /proc/self/fd/*; do
    if [ -e "$fd" ] && [ "${fd##*/}" -gt 2 ]; then echo "left ${fd##*/}"; fi
done
if [ -x "$1" ] && [ ! -d "$1" ]; then echo "program"; fi
shift
for folder in "$@"; do if [ ! -w "$folder" ]; then echo "unwritable $folder"; fi; done
echo "end"
# Where the limit leaves no room for this, the shell ends here, which shows the same.
if (prlimit --nproc=1:1 /bin/sh -c '/bin/true; :') 2> /dev/null; then echo "forked"; fi
"#;

/// Time after which the first box, which only checks itself, is killed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts a first box in which a script reports what it finds, and compares that with what the settings promise.
pub(super) fn probe(ready: &Ready) -> Result<(), Unenforced> {
    let found = look(ready)?;
    judge(ready, &found)
}

/// Starts the first box, and returns what its script prints.
fn look(ready: &Ready) -> Result<String, Unenforced> {
    let failed = |why: &str| Unenforced::new(wording::no_box(why));
    let launcher = &ready.launcher;
    let run = RunFolder::create(&launcher.filters, &[], launcher.steps_down)
        .map_err(|error| failed(&error.to_string()))?;
    let mut args = vec![
        OsStr::new("-c"),
        SCRIPT.as_ref(),
        "probe".as_ref(),
        ready.program.as_os_str(),
    ];
    let writable = ready
        .sandbox
        .folders
        .iter()
        .filter(|folder| folder.is_writable);
    args.extend(writable.map(|folder| folder.at.as_os_str()));
    // The first box checks the limits of the tool, and is not to fail by a short time.
    let sandbox = ready.sandbox.clone().time(PATIENCE);
    let mut command = launcher.command(&sandbox, &run, Path::new("/bin/sh"), args);
    let mut child = command
        .spawn()
        .map_err(|error| failed(&error.to_string()))?;
    if !has_ended(&mut child) {
        return Err(failed(&wording::probe_timed_out(PATIENCE)));
    }
    let (mut said, mut complained) = (Vec::new(), Vec::new());
    let out = child
        .stdout
        .take()
        .map(|mut out| out.read_to_end(&mut said));
    let err = child
        .stderr
        .take()
        .map(|mut err| err.read_to_end(&mut complained));
    for read in [out, err] {
        if let Some(Err(error)) = read {
            return Err(failed(&error.to_string()));
        }
    }
    let said = output::safe(&said);
    match said.lines().any(|line| line == "end") {
        true => Ok(said),
        false => Err(failed(output::safe(&complained).trim())),
    }
}

/// Waits for the end of the first box, and kills the box after `PATIENCE`. Returns `true` if the box has ended by
/// itself. The box does not wait for a reader: its output fits into a pipe.
fn has_ended(child: &mut Child) -> bool {
    let until = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(_)) => return true,
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(2)),
            _ => {
                // If it cannot be killed it has ended.
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

/// Compares what the script in the first box has printed with what the settings promise.
fn judge(ready: &Ready, found: &str) -> Result<(), Unenforced> {
    let sandbox = &ready.sandbox;
    let refused = |text: String| Err(Unenforced::new(text));
    let value = |start: &str| found.lines().find_map(|line| line.strip_prefix(start));
    let no_capability = || "0000000000000000".to_owned();
    for (name, wanted) in [
        ("status Uid:", NOBODY.to_string()),
        ("status NoNewPrivs:", "1".to_owned()),
        ("status Seccomp:", "2".to_owned()),
        ("status CapEff:", no_capability()),
        ("status CapPrm:", no_capability()),
        ("status CapBnd:", no_capability()),
        ("limit Max cpu time", sandbox.cpu_seconds().to_string()),
        ("limit Max address space", sandbox.memory.to_string()),
        ("limit Max open files", sandbox.open_files.to_string()),
        ("limit Max file size", sandbox.file_size.to_string()),
        ("limit Max processes", nproc(sandbox).to_string()),
        ("limit Max core file size", "0".to_owned()),
    ] {
        let is = value(name).and_then(|rest| rest.split_whitespace().next());
        if is != Some(&wanted) {
            let (_, name) = name.split_once(' ').unwrap_or_default();
            let name = name.trim_end_matches(':');
            return refused(wording::not_so(name, &wanted, is.unwrap_or("?")));
        }
    }
    if let Some(name) = found
        .lines()
        .find_map(|line| line.strip_prefix("network ").filter(|name| *name != "lo:"))
    {
        return refused(wording::network_seen(name.trim_end_matches(':')));
    }
    if let Some(fd) = value("left ") {
        return refused(wording::file_left_open(fd));
    }
    if value("forked").is_some() {
        return refused(wording::PROCESSES_UNLIMITED.to_owned());
    }
    if let Some(folder) = value("unwritable ") {
        return refused(wording::not_writable(folder, ready.launcher.steps_down));
    }
    if value("program").is_none() {
        return refused(wording::program_not_in_box(&ready.program));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sandbox;
    use agents_needs::Need;

    /// Returns what the script prints in a box with these settings if everything is enforced.
    fn well(sandbox: &Sandbox) -> String {
        format!(
            "status Uid:\t65534\t65534\nstatus NoNewPrivs:\t1\nstatus Seccomp:\t2\nstatus CapEff:\t0000000000000000\n\
             status CapPrm:\t0000000000000000\nstatus CapBnd:\t0000000000000000\nlimit Max cpu time             {} 6 seconds\n\
             limit Max address space        {} 1 bytes\nlimit Max open files   {} 1\nlimit Max file size   {} 1\n\
             limit Max processes   {} 1\nlimit Max core file size    0 0\nnetwork lo:\nprogram\nend\n",
            sandbox.cpu_seconds(),
            sandbox.memory,
            sandbox.open_files,
            sandbox.file_size,
            nproc(sandbox)
        )
    }

    #[test]
    fn whatever_a_platform_does_not_enforce_is_refused() {
        let sandbox = Sandbox::new();
        let launcher = match super::super::Launcher::find(&sandbox) {
            Ok(launcher) => launcher,
            Err(why) => return Need::Bubblewrap.missing(why),
        };
        let ready = Ready {
            launcher,
            program: "/usr/bin/true".into(),
            sandbox,
        };
        let well = well(&ready.sandbox);
        assert_eq!(judge(&ready, &well), Ok(()));
        for (good, bad, named) in [
            ("Uid:\t65534", "Uid:\t0", "Uid"),
            ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "NoNewPrivs"),
            ("Seccomp:\t2", "Seccomp:\t0", "Seccomp"),
            (
                "CapEff:\t0000000000000000",
                "CapEff:\t000001ffffffffff",
                "CapEff",
            ),
            (
                "address space        256000000",
                "address space        unlimited",
                "address space",
            ),
            (
                "Max processes   18",
                "Max processes   unlimited",
                "processes",
            ),
            ("network lo:", "network lo:\nnetwork eth0:", "eth0"),
            ("program\n", "left 7\nprogram\n", "7"),
            ("program\n", "forked\nprogram\n", "processes"),
            ("program\n", "unwritable /out\nprogram\n", "/out"),
            ("program\n", "", "/usr/bin/true"),
        ] {
            assert!(well.contains(good), "{good}");
            let error = judge(&ready, &well.replace(good, bad)).unwrap_err();
            assert!(error.to_string().contains(named), "{bad}: {error}");
        }
    }
}
