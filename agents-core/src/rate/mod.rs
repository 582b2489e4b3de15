//! Rate limits for tools, checked before every execution, but not for results from a cache.
//!
//! An execution that would come too early does not begin, and is no attempt. Its call fails with `RATE_LIMIT`, and
//! `retry_after_s` says how long to wait. A `retry` in an agent's default arms, or in its arms for tools by a pattern,
//! waits that long; arms for the error type of one tool are not asked. If no arm decides, the model does.
//!
//! ```
//! # use agents_core as agents;
//! use agents::rate::{MemoryLimiter, Rate};
//! # use agents::{Agent, AgentBuilder, Code, Effects, testing::{Script, ScriptedModel}, tool::FnTool};
//! # use serde_json::json;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), agents::Error> {
//! # let schema = json!({"type": "object"});
//! # let search = FnTool::new("web_search", "Searches.", Effects::Reads, schema, |_, _| async { Ok::<_, std::io::Error>("found") });
//! # let (model, _) = ScriptedModel::new([Script::calls([("web_search", "{}"); 2]), Script::text("done")]);
//! # let agent = AgentBuilder::<String, String>::new("scout").tool(search).model(model).build();
//!
//! let limiter = MemoryLimiter::new().limit("web_*", Rate::per_minute(1));
//! let outcome = agent.run("Look around.").rate_limits(limiter).outcome().await?;
//!
//! let receipts: Vec<_> = outcome.outputs.receipts().collect();
//! assert!(receipts[0].is_ok());
//! let error = receipts[1].error.as_ref().unwrap();
//! assert_eq!(error.code, Code::RateLimit);
//! assert!(error.retry_after_s.unwrap() > 59.0);
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "limits")]
mod governor;
mod memory;

#[cfg(feature = "limits")]
pub use self::governor::GovernorLimiter;
pub use memory::MemoryLimiter;

use crate::tool::ToolSpec;
use async_trait::async_trait;
use std::{sync::Arc, time::Duration};

/// Limiter that decides whether a tool may be executed now.
///
/// A limiter that panics, or does not answer within 5 seconds, counts as a refusal: the call fails with `RATE_LIMIT`
/// and without a time to wait, and the run continues.
///
/// ```
/// # use agents_core as agents;
/// use agents::{async_trait, rate::RateLimiter, tool::ToolSpec};
/// use std::time::Duration;
///
/// /// Nothing that leaves the house runs while the office is closed.
/// struct OfficeHours { closed_for: Option<Duration> }
///
/// #[async_trait]
/// impl RateLimiter for OfficeHours {
///     async fn try_acquire(&self, _tenant: &str, tool: &ToolSpec) -> Result<(), Duration> {
///         match self.closed_for.filter(|_| tool.external) {
///             Some(wait) => Err(wait),
///             None => Ok(()),
///         }
///     }
/// }
/// # let _ = OfficeHours { closed_for: None };
/// ```
#[async_trait]
pub trait RateLimiter: Send + Sync + 'static {
    /// Acquires permission for one execution of this tool on behalf of this tenant.
    ///
    /// # Errors
    /// The time until the next permission.
    async fn try_acquire(&self, tenant: &str, tool: &ToolSpec) -> Result<(), Duration>;
}

#[async_trait]
impl<L: RateLimiter + ?Sized> RateLimiter for Arc<L> {
    async fn try_acquire(&self, tenant: &str, tool: &ToolSpec) -> Result<(), Duration> {
        (**self).try_acquire(tenant, tool).await
    }
}

/// Longest period of a rate: a clock cannot represent the end of an arbitrary one.
const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Maximum rate of executions: up to `times` at once, and then as many as the period allows. The permissions come back
/// evenly over the period.
///
/// ```
/// # use agents_core as agents;
/// use agents::rate::Rate;
/// use std::time::Duration;
///
/// assert_eq!(Rate::per_minute(3), Rate::new(3, Duration::from_secs(60)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    times: u32,
    per: Duration,
}

impl Rate {
    /// Creates a rate of `times` executions per period; a period of more than a century counts as a century. With
    /// `times` 0, no execution is permitted; with a period of zero, any number is.
    pub const fn new(times: u32, per: Duration) -> Rate {
        let per = match per.as_secs() < CENTURY.as_secs() {
            true => per,
            false => CENTURY,
        };
        Rate { times, per }
    }

    /// Creates a rate of `times` executions per second.
    pub const fn per_second(times: u32) -> Rate {
        Rate::new(times, Duration::from_secs(1))
    }

    /// Creates a rate of `times` executions per minute.
    pub const fn per_minute(times: u32) -> Rate {
        Rate::new(times, Duration::from_secs(60))
    }

    /// Returns the number of executions per period.
    pub const fn times(self) -> u32 {
        self.times
    }

    /// Returns the period in which all used permissions come back.
    pub const fn per(self) -> Duration {
        self.per
    }
}
