//! Caching of tool results: if a tool declares `cache = ttl(..)` or `cache = forever`, the same call is executed once,
//! or once within the time of the `ttl`.
//!
//! By default every run has a [`MemoryCache`] of its own, with room for 1,000 results and 64 MB in total.
//! [`Run::no_cache`](crate::agent::Run::no_cache) turns the cache off. A [`SharedCache`] is for several runs, and takes
//! any [`ToolCache`]: a `MemoryCache`, `agents::cache::MokaCache` (feature `cache`) for many results, or one of yours.
//! The receipt of a call says whether its result was cached:
//!
//! ```
//! # use agents_core as agents;
//! use agents::cache::{MemoryCache, SharedCache};
//! # use agents::{Agent, AgentBuilder, Effects, testing::{Script, ScriptedModel}, tool::{Cache, FnTool, ToolSpec}};
//! # use serde_json::json;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), agents::Error> {
//! # let spec = ToolSpec::new("capital", "The capital.", Effects::Reads, json!({"type": "object"})).cache(Cache::Forever);
//! # let tool = FnTool::with_spec(spec, |_, _| async { Ok::<_, std::io::Error>("Paris") });
//! # let script = || [Script::call("capital", "{}"), Script::text("Paris")];
//! # let agent = AgentBuilder::<String, String>::new("guide").tool(tool).build();
//!
//! let cache = SharedCache::new(MemoryCache::new());
//! for cached in [false, true] {
//!     # let (model, _) = ScriptedModel::new(script());
//!     let run = agent.run("What is the capital of France?").scope("acme").cache(cache.clone());
//!     # let run = run.model(model);
//!     let outcome = run.outcome().await?;
//!     assert_eq!(outcome.outputs.last_tool.unwrap().cached, cached);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! - Only complete, successful results are kept. Results of tools that write, and results with images, files or tables,
//!   are not kept.
//! - The key consists of the tool, its version and schema, its arguments and the tenant, so results are never shared
//!   between tenants. In a run with secrets, the workspace, the user and the secrets that the run was given are part of
//!   the key, too. Injected values are part of the key if they are `Hash`: a `root: PathBuf` is, a pool of connections
//!   is not.
//! - Identical concurrent calls run once. The others wait for the first call, and run themselves if that call fails, or
//!   if its result may not be kept.
//! - A cache that fails, or does not answer within 5 seconds, counts as empty.

mod flight;
mod key;
mod memory;
#[cfg(feature = "cache")]
mod moka;
mod shared;

#[cfg(feature = "cache")]
pub use self::moka::MokaCache;
pub use key::CacheKey;
pub(crate) use key::CacheQuery;
pub use memory::MemoryCache;
pub use shared::SharedCache;
pub(crate) use shared::{Caching, Served};

use crate::Json;
use async_trait::async_trait;
use std::{error::Error as StdError, sync::Arc, time::Duration};

/// Error of a [`ToolCache`], for instance of the server that it keeps results on.
pub type CacheError = Box<dyn StdError + Send + Sync>;

/// Storage for reusable tool results.
///
/// ```
/// # use agents_core as agents;
/// use agents::{Json, async_trait};
/// use agents::cache::{CacheError, CacheKey, ToolCache};
/// use std::{collections::HashMap, sync::Mutex, time::Duration};
///
/// /// Keeps for ever what may be kept for ever, and nothing else.
/// #[derive(Default)]
/// struct Stone(Mutex<HashMap<CacheKey, Json>>);
///
/// #[async_trait]
/// impl ToolCache for Stone {
///     async fn get(&self, key: &CacheKey) -> Result<Option<Json>, CacheError> {
///         Ok(self.0.lock().unwrap().get(key).cloned())
///     }
///
///     async fn put(&self, key: &CacheKey, output: &Json, keep_for: Option<Duration>) -> Result<(), CacheError> {
///         if keep_for.is_none() {
///             self.0.lock().unwrap().insert(key.clone(), output.clone());
///         }
///         Ok(())
///     }
/// }
/// # use agents::{Agent, agent::ModelAgent};
/// # async fn run(agent: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
/// agent.run("go").cache(Stone::default()).await?;
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ToolCache: Send + Sync + 'static {
    /// Returns the result stored under this key; `None` if no result is stored, or if the result's time to live is
    /// over.
    ///
    /// # Errors
    /// When the cache cannot answer; the call then runs as if there were no result.
    async fn get(&self, key: &CacheKey) -> Result<Option<Json>, CacheError>;

    /// Stores a result under this key, in place of an earlier result, for the time `keep_for`; for ever if `keep_for`
    /// is `None`.
    ///
    /// # Errors
    /// When the result cannot be stored; the call succeeds all the same.
    async fn put(
        &self,
        key: &CacheKey,
        output: &Json,
        keep_for: Option<Duration>,
    ) -> Result<(), CacheError>;
}

#[async_trait]
impl<C: ToolCache + ?Sized> ToolCache for Arc<C> {
    async fn get(&self, key: &CacheKey) -> Result<Option<Json>, CacheError> {
        (**self).get(key).await
    }

    async fn put(
        &self,
        key: &CacheKey,
        output: &Json,
        keep_for: Option<Duration>,
    ) -> Result<(), CacheError> {
        (**self).put(key, output, keep_for).await
    }
}
