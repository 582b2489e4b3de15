//! Caching of tool results; see [`agents_core::cache`] for how it works.
//!
//! The feature `cache` adds `MokaCache` to the built-in in-memory cache. `MokaCache` suits many results that many
//! runs share.
//!
//! ```
//! # #[cfg(feature = "cache")]
//! # async fn serve(clerk: agents::agent::ModelAgent<'_, String, String>, questions: Vec<String>) -> Result<(), agents::Error> {
//! use agents::{Agent, cache::{MokaCache, SharedCache}};
//!
//! let cache = SharedCache::new(MokaCache::of_bytes(500_000_000)); // one for the whole program
//! for question in questions {
//!     clerk.run(question).scope("acme").cache(cache.clone()).await?;
//! }
//! # Ok(())
//! # }
//! ```

pub use agents_core::cache::*;

#[cfg(feature = "cache")]
mod moka;
#[cfg(feature = "cache")]
pub use self::moka::MokaCache;
