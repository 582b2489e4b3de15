use crate::{CommandTool, Job, Ran, Sandbox, SandboxError, Unenforced, wording};
use agents_core::{Code, Effects, Tool, ToolContext, tool::ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{fmt, hash::Hasher, time::Duration};

/// Tool that runs the Python code of a model in a box, by the `python3` of this machine.
///
/// ```no_run
/// use agents::{Effects, prelude::*};
/// use agents_sandbox::{PythonTool, Sandbox};
///
/// # fn main() -> Result<(), agents_sandbox::Unenforced> {
/// let python = PythonTool::new(Effects::None, Sandbox::new())?;
/// let calculator = AgentBuilder::<String, String>::new("calculator").tool(python).build();
/// # let _ = calculator;
/// # Ok(())
/// # }
/// ```
///
/// The code is the file `/input/main.py`. It has the standard library and the packages below `/usr`. What it prints is the
/// result.
pub struct PythonTool(CommandTool<PythonArgs>);

/// Arguments of a [`PythonTool`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PythonArgs {
    /// Python 3 code. Print what you want to know.
    pub code: String,
}

impl PythonTool {
    /// Creates a tool with the name `run_python`. [`Effects::None`] is right for a box without folders.
    ///
    /// A first box is started to check the platform. This takes some ten milliseconds, in which the thread waits;
    /// on a machine where boxes hang, it waits up to 20 seconds.
    ///
    /// # Errors
    /// As [`CommandTool::new`], and when there is no `/usr/bin/python3`.
    pub fn new(effects: Effects, sandbox: Sandbox) -> Result<Self, Unenforced> {
        let spec = ToolSpec::of::<PythonArgs>("run_python", String::new(), effects);
        let job = |args: PythonArgs| {
            Job::new()
                // Neither the environment nor the working folder adds modules, and nothing is compiled to files.
                .args(["-I", "-B", "-X", "utf8", "/input/main.py"])
                .file("main.py", args.code)
        };
        let python = "/usr/bin/python3".into();
        CommandTool::with_spec(spec, wording::PYTHON, python, sandbox, job).map(PythonTool)
    }

    /// Changes the specification: see [`CommandTool::specified`].
    #[must_use]
    pub fn specified(self, change: impl FnOnce(ToolSpec) -> ToolSpec) -> Self {
        PythonTool(self.0.specified(change))
    }
}

impl Tool for PythonTool {
    type Args = PythonArgs;
    type Ok = Ran;
    type Err = SandboxError;

    fn spec(&self) -> &ToolSpec {
        self.0.spec()
    }

    async fn call(&self, args: PythonArgs, cx: &ToolContext) -> Result<Ran, SandboxError> {
        self.0.call(args, cx).await
    }

    fn failure(error: &SandboxError) -> (Code, Option<Duration>) {
        CommandTool::<PythonArgs>::failure(error)
    }

    fn hash_instance(&self, state: &mut dyn Hasher) {
        self.0.hash_instance(state);
    }
}

impl fmt::Debug for PythonTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PythonTool").field(&self.0).finish()
    }
}
