use super::{WasmSandbox, module::Compiled, run};
use crate::{Job, Ran, SandboxError, Unenforced, wording};
use agents_core::{
    Code, Effects, Tool, ToolContext, ToolFailure,
    tool::{Category, ToolSpec, schema_of},
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::{borrow::Cow, fmt, hash::Hasher, sync::Arc, time::Duration};

/// Tool that runs a WebAssembly module, with input that you make from the arguments of the model.
///
/// The module is a command of WASI preview 1, which compilers make for `wasm32-wasip1`: it reads its standard input, writes its
/// standard output, and ends. It has no files, no network and no processes.
///
/// ```no_run
/// use agents::prelude::*;
/// use agents_sandbox::{Job, WasmSandbox, WasmTool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Text {
///     /// Text whose words are counted.
///     text: String,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let module = std::fs::read("count_words.wasm")?;
/// let sandbox = WasmSandbox::new().memory(8_000_000);
/// let count = WasmTool::new("count_words", "Counts words.", &module, sandbox, |args: Text| {
///     Job::new().stdin(args.text)
/// })?;
/// let editor = AgentBuilder::<String, String>::new("editor").tool(count).build();
/// # let _ = editor;
/// # Ok(())
/// # }
/// ```
pub struct WasmTool<Args> {
    spec: ToolSpec,
    compiled: Arc<Compiled>,
    job: Box<dyn Fn(Args) -> Job + Send + Sync>,
}

/// Time by which the time limit of the tool exceeds the time limit of its box, so that the box ends first.
const BEYOND: Duration = Duration::from_secs(5);

impl<Args: DeserializeOwned + JsonSchema + Send + Sync + 'static> WasmTool<Args> {
    /// Creates a tool that runs `module`, in the binary format, with the job that `job` makes of the arguments.
    ///
    /// The module is compiled here, in which the thread waits: some milliseconds for a small one, seconds for one of some
    /// megabytes. The tool has [`Effects::None`], or [`Effects::Reads`] with a clock or random bytes.
    ///
    /// # Errors
    /// When the module is broken, is no command, wants more memory than it may have, or imports what it was not given.
    /// When a variable of the settings cannot be set.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl AsRef<str>,
        module: &[u8],
        sandbox: WasmSandbox,
        job: impl Fn(Args) -> Job + Send + Sync + 'static,
    ) -> Result<Self, Unenforced> {
        let effects = match sandbox.has_clock || sandbox.has_random {
            true => Effects::Reads,
            false => Effects::None,
        };
        let mut spec = ToolSpec::of::<Args>(name, String::new(), effects);
        spec.description = wording::wasm_description(description.as_ref(), &sandbox).into();
        spec.output_schema = Some(schema_of::<Ran>());
        spec = spec
            .category(Category::Code)
            .timeout(sandbox.time.saturating_add(BEYOND));
        Ok(WasmTool {
            spec,
            compiled: Arc::new(Compiled::of(module, sandbox)?),
            job: Box::new(job),
        })
    }

    /// Changes the specification, for example its version, its examples or whether calls need approval.
    #[must_use]
    pub fn specified(mut self, change: impl FnOnce(ToolSpec) -> ToolSpec) -> Self {
        self.spec = change(self.spec);
        self
    }
}

impl<Args: DeserializeOwned + JsonSchema + Send + Sync + 'static> Tool for WasmTool<Args> {
    type Args = Args;
    type Ok = Ran;
    type Err = SandboxError;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, _: &ToolContext) -> Result<Ran, SandboxError> {
        run::run(&self.compiled, &self.spec.name, (self.job)(args)).await
    }

    fn failure(error: &SandboxError) -> (Code, Option<Duration>) {
        (error.code(), None)
    }

    fn hash_instance(&self, state: &mut dyn Hasher) {
        state.write(&self.compiled.bytes);
        state.write(format!("{:?}", self.compiled.sandbox).as_bytes());
    }
}

impl<Args> fmt::Debug for WasmTool<Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WasmTool")
            .field("name", &self.spec.name)
            .field("sandbox", &self.compiled.sandbox)
            .finish_non_exhaustive()
    }
}
