//! Systems other than Linux: no box can be made there.

use crate::{Job, Ran, Sandbox, SandboxError, Unenforced, wording};
use std::path::Path;

/// Box on a system where this crate has none: no value of this type exists.
pub(crate) enum Ready {}

impl Ready {
    pub(crate) fn check(_: Sandbox, _: &Path) -> Result<Self, Unenforced> {
        Err(Unenforced::new(wording::NOT_LINUX))
    }

    pub(crate) async fn run(&self, _: Job) -> Result<Ran, SandboxError> {
        match *self {}
    }
}
