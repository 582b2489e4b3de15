//! How often a tool may run; see [`agents_core::rate`] for how.
//!
//! With the feature `limits` there is [`GovernorLimiter`] beside the limiter in memory: for many
//! tenants and threads.

pub use agents_core::rate::*;

#[cfg(feature = "limits")]
mod governor;
#[cfg(feature = "limits")]
pub use self::governor::GovernorLimiter;
