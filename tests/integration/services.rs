//! Services around a run: caches, limiters, blob stores.

mod blobs;
mod caching;
mod rate_limits;
mod unresponsive;
