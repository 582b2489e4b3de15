use crate::{Job, Ran, Ready, Sandbox, SandboxError, Unenforced, wording};
use agents_core::{
    Code, Effects, Tool, ToolContext, ToolFailure,
    tool::{Category, ToolSpec, schema_of},
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::{
    borrow::Cow,
    fmt,
    hash::Hasher,
    path::{Path, PathBuf},
    time::Duration,
};

/// Tool that runs a fixed program in a box, with arguments that you make from those of the model.
///
/// ```no_run
/// use agents::{Effects, prelude::*};
/// use agents_sandbox::{CommandTool, Job, Sandbox};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Search {
///     /// Regular expression.
///     pattern: String,
/// }
///
/// # fn main() -> Result<(), agents_sandbox::Unenforced> {
/// let sandbox = Sandbox::new().read_only("/srv/reports", "/reports");
/// let search = CommandTool::new(
///     "search_reports",
///     "Searches the reports, and returns the lines that match.",
///     Effects::Reads,
///     "/usr/bin/grep",
///     sandbox,
///     |search: Search| Job::new().args(["-rnE", "--", &search.pattern, "/reports"]),
/// )?;
/// let clerk = AgentBuilder::<String, String>::new("clerk").tool(search).build();
/// # let _ = clerk;
/// # Ok(())
/// # }
/// ```
///
/// No shell is in between, unless you choose one as the program.
pub struct CommandTool<Args> {
    spec: ToolSpec,
    program: PathBuf,
    /// Settings of the box as text. With `program`, they tell results in the cache apart from those of another tool of
    /// this name.
    settings: String,
    ready: Ready,
    job: Box<dyn Fn(Args) -> Job + Send + Sync>,
    /// Path in the box at which the first writable folder is mounted; `None` if no folder is writable.
    writable: Option<PathBuf>,
}

/// Time by which the time limit of the tool exceeds the time limit of its box, so that the box ends first.
const BEYOND: Duration = Duration::from_secs(5);

impl<Args: DeserializeOwned + JsonSchema + Send + Sync + 'static> CommandTool<Args> {
    /// Creates a tool that runs `program`, an absolute path in the box, with the job that `job` makes of the arguments.
    ///
    /// A first box is started to check the platform. This takes some ten milliseconds, in which the thread waits;
    /// on a machine where boxes hang, it waits up to 20 seconds.
    ///
    /// # Errors
    /// When the platform does not enforce what the sandbox promises, when a folder cannot be mounted, when a variable
    /// cannot be set, or when the program is not in the box. When a folder is writable and the effects are not
    /// [`Effects::Writes`].
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl AsRef<str>,
        effects: Effects,
        program: impl Into<PathBuf>,
        sandbox: Sandbox,
        job: impl Fn(Args) -> Job + Send + Sync + 'static,
    ) -> Result<Self, Unenforced> {
        let spec = ToolSpec::of::<Args>(name, String::new(), effects);
        Self::with_spec(spec, description.as_ref(), program.into(), sandbox, job)
    }

    pub(crate) fn with_spec(
        mut spec: ToolSpec,
        description: &str,
        program: PathBuf,
        sandbox: Sandbox,
        job: impl Fn(Args) -> Job + Send + Sync + 'static,
    ) -> Result<Self, Unenforced> {
        let writable = sandbox.folders.iter().find(|folder| folder.is_writable);
        let writable = writable.map(|folder| folder.at.clone());
        if let Some(at) = undeclared(writable.as_deref(), &spec) {
            return Err(Unenforced::new(wording::writes_undeclared(at)));
        }
        spec.description = wording::description(description, &sandbox).into();
        spec.output_schema = Some(schema_of::<Ran>());
        spec = spec
            .category(Category::Code)
            .timeout(sandbox.time.saturating_add(BEYOND));
        let settings = format!("{sandbox:?}");
        let ready = Ready::check(sandbox, &program)?;
        Ok(CommandTool {
            spec,
            program,
            settings,
            ready,
            job: Box::new(job),
            writable,
        })
    }

    /// Changes the specification, for example its version, its examples or whether calls need approval.
    ///
    /// ```no_run
    /// # use agents::Effects;
    /// # use agents_sandbox::{CommandTool, Job, Sandbox, Unenforced};
    /// # fn tool() -> Result<CommandTool<String>, Unenforced> {
    /// # let (sandbox, job) = (Sandbox::new(), |text: String| Job::new().stdin(text));
    /// let count = CommandTool::new("count", "Counts words.", Effects::None, "/usr/bin/wc", sandbox, job)?
    ///     .specified(|spec| spec.version("2.0.0"));
    /// # Ok(count)
    /// # }
    /// ```
    ///
    /// If a folder is writable, the effects stay [`Effects::Writes`], and a change of them is a warning in the log.
    #[must_use]
    pub fn specified(mut self, change: impl FnOnce(ToolSpec) -> ToolSpec) -> Self {
        self.spec = change(self.spec);
        if let Some(at) = undeclared(self.writable.as_deref(), &self.spec) {
            let tool = &*self.spec.name;
            tracing::warn!(tool, "{}", wording::writes_undeclared(at));
            self.spec.effects = Effects::Writes;
        }
        self
    }
}

/// Returns the folder that the program can write, if the specification does not declare that the tool writes; `None` if
/// all is well.
fn undeclared<'a>(writable: Option<&'a Path>, spec: &ToolSpec) -> Option<&'a Path> {
    writable.filter(|_| spec.effects != Effects::Writes)
}

impl<Args: DeserializeOwned + JsonSchema + Send + Sync + 'static> Tool for CommandTool<Args> {
    type Args = Args;
    type Ok = Ran;
    type Err = SandboxError;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, _: &ToolContext) -> Result<Ran, SandboxError> {
        self.ready.run((self.job)(args)).await
    }

    fn failure(error: &SandboxError) -> (Code, Option<Duration>) {
        (error.code(), None)
    }

    fn hash_instance(&self, state: &mut dyn Hasher) {
        state.write(self.program.as_os_str().as_encoded_bytes());
        state.write(self.settings.as_bytes());
    }
}

impl<Args> fmt::Debug for CommandTool<Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandTool")
            .field("name", &self.spec.name)
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}
