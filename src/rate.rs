//! Rate limits for tools; see [`agents_core::rate`] for how they work.
//!
//! The feature `limits` adds `GovernorLimiter` to the built-in in-memory limiter. `GovernorLimiter` suits many
//! tenants and threads.
//!
//! ```
//! # #[cfg(feature = "limits")]
//! # async fn serve(clerk: agents::agent::ModelAgent<'_, String, String>, question: String) -> Result<(), agents::Error> {
//! use agents::{Agent, rate::{GovernorLimiter, Rate}};
//! use std::sync::Arc;
//!
//! let limits = GovernorLimiter::new()
//!     .limit("web_*", Rate::per_minute(60))
//!     .limit("web_search", Rate::per_second(2)); // both count
//! let limits = Arc::new(limits); // one for the whole program
//! clerk.run(question).scope("acme").rate_limits(limits.clone()).await?;
//! # Ok(())
//! # }
//! ```

pub use agents_core::rate::*;

#[cfg(feature = "limits")]
mod governor;
#[cfg(feature = "limits")]
pub use self::governor::GovernorLimiter;
