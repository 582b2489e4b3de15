//! Caching of tool results; [`agents_core::cache`] says how it works.
//!
//! With the feature `cache` there is [`MokaCache`] beside the cache in memory: for many results that
//! many runs share.

pub use agents_core::cache::*;

#[cfg(feature = "cache")]
mod moka;
#[cfg(feature = "cache")]
pub use self::moka::MokaCache;
