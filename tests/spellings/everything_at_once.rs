use agents::{prelude::*, tool};

use std::{io, path::PathBuf, sync::Arc, time::Duration};

tool! {
    /// Read a file's contents.
    #[tool(reads, version = "2.1.0", category = data, timeout = Duration::from_secs(2), cache = ttl(Duration::from_secs(60)), strict, sequential,)]
    #[example(path = "a.txt", lines = 3)]
    pub async fn read_file(
        /// Path, relative to the workspace.
        path: PathBuf,
        /// Maximum number of lines.
        #[serde(default)]
        #[allow(unused)]
        lines: Option<u32>,
        #[inject] pool: Arc<String>,
        #[inject] root: &PathBuf,
        cx: &ToolContext,
    ) -> io::Result<String> {
        Ok(format!("{}{}{pool}{}", root.display(), path.display(), cx.attempt()))
    }
}

/// Every name that could clash with one of ours.
#[tool(writes, external, approval = when(|args, cx| args.r#type.len() > 3 && cx.attempt() > 0))]
pub(crate) async fn args(
    /// A keyword.
    r#type: String,
    /// Type with the name of the function.
    mut args: u8,
) -> u8 {
    args += r#type.len() as u8;
    args
}

type Result<T> = std::result::Result<T, std::fmt::Error>;

/// Shadowed names are no matter.
#[tool(none)]
async fn r#match() -> Result<()> {
    Ok(())
}

macro_rules! made {
    ($name:ident, $ty:ty) => {
        /// Made by a macro.
        #[tool(none)]
        async fn $name(
            /// Thing that is meant.
            what: $ty,
        ) -> $ty {
            what
        }
    };
}
made!(echo, Option<Vec<String>>);

/// Shouts.
#[agent]
fn input(input: String) -> String {
    input.to_uppercase()
}

#[agent(
    prompt = concat!("You ", "manage."),
    tools = [ReadFile { pool: self.pool.clone(), root: self.root.clone() }, Args, Match, ..self.more(),],
    budget(max_turns = 3, time = Duration::from_secs(60), cost = 0.5),
)]
impl<T: Clone + Send + Sync> Manager<T> {
    const LIMIT: usize = 3;

    /// Manages.
    #[skill]
    async fn manage(&self, request: String) -> String;

    /// Looks, and nothing else.
    #[skill(tools = [ReadFile, "echo", "*_file"])]
    async fn look(&self, request: String) -> String;

    /// Thinks, without tools.
    #[skill(tools = [])]
    async fn think(&self, request: String) -> String;

    /// House style, lent by the agent.
    #[knowledge]
    fn style(&self) -> &str {
        &self.pool
    }

    /// Folder of everything.
    #[knowledge]
    fn place(&self) -> std::borrow::Cow<'static, str> {
        self.root.display().to_string().into()
    }

    /// Answers by itself.
    #[skill(when = |request| request.len() < Self::LIMIT)]
    async fn answer(&self, request: String) -> std::result::Result<String, Error> {
        Ok(request)
    }

    fn more(&self) -> Vec<Echo> {
        vec![Echo]
    }
}

struct Manager<T> {
    pool: Arc<String>,
    root: PathBuf,
    _other: T,
}

struct Echoing<T>(T);

#[agent]
impl<
    T: Clone
        + Send
        + Sync
        + serde::Serialize
        + serde::de::DeserializeOwned
        + schemars::JsonSchema
        + 'static,
> Echoing<T>
{
    /// Echoes.
    #[skill]
    fn echo(&self, what: T) -> T {
        what
    }
}

pub(super) fn main() {
    let _ = Echoing(3).0;
    let _ = Input.then(Manager {
        pool: Arc::default(),
        root: PathBuf::new(),
        _other: 0,
    });
}
