//! The box on Linux, made by bubblewrap.

mod command;
mod probe;
mod run;
mod run_folder;
mod running;
mod seccomp;
mod spawner;
mod verdict;

use crate::{Job, Ran, Sandbox, SandboxError, Unenforced};
use command::Launcher;
use std::path::{Path, PathBuf};

/// Box for one program, after it was checked that this platform enforces its limits.
pub(crate) struct Ready {
    sandbox: Sandbox,
    program: PathBuf,
    launcher: Launcher,
}

impl Ready {
    /// Checks the settings and the platform: a first box is started, in which a script reports what it finds.
    pub(crate) fn check(sandbox: Sandbox, program: &Path) -> Result<Self, Unenforced> {
        let ready = Ready {
            launcher: Launcher::find(&sandbox)?,
            program: program.to_owned(),
            sandbox,
        };
        probe::probe(&ready)?;
        Ok(ready)
    }

    /// Runs the program with this job in a new box.
    pub(crate) async fn run(&self, job: Job) -> Result<Ran, SandboxError> {
        run::run(self, job).await
    }
}
