//! Rate limits for tools; [`agents_core::rate`] says how they work.
//!
//! With the feature `limits` there is [`GovernorLimiter`] beside the limiter in memory: for many
//! tenants and threads.

pub use agents_core::rate::*;

#[cfg(feature = "limits")]
mod governor;
#[cfg(feature = "limits")]
pub use self::governor::GovernorLimiter;
