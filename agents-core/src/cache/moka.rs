use super::{CacheError, CacheKey, ToolCache};
use crate::{Json, async_trait};
use moka::{Expiry, sync::Cache};
use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

/// Maximum time to which the time of a result is shortened: a clock that adds more may overflow. A result without a
/// time does not expire.
const A_CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// A concurrent cache in memory, by `moka`, that prefers to keep results that are often asked for.
///
/// ```
/// # use agents_core as agents;
/// use agents::cache::{MokaCache, SharedCache};
///
/// // Give copies of it to `.run(..).cache(..)`.
/// let shared = SharedCache::new(MokaCache::of_bytes(500_000_000));
/// ```
#[derive(Clone)]
pub struct MokaCache(Cache<Arc<str>, Kept>);

#[derive(Clone)]
struct Kept {
    output: Json,
    keep_for: Option<Duration>,
}

/// Policy for the cache by which each result expires after its own time.
struct ByResult;

impl Expiry<Arc<str>, Kept> for ByResult {
    fn expire_after_create(&self, _: &Arc<str>, kept: &Kept, _: Instant) -> Option<Duration> {
        kept.keep_for
    }

    fn expire_after_update(
        &self,
        _: &Arc<str>,
        kept: &Kept,
        _: Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        kept.keep_for
    }
}

impl MokaCache {
    /// Creates a cache with room for this many bytes of keys and results in total.
    pub fn of_bytes(max_bytes: u64) -> Self {
        let cache = Cache::builder()
            .max_capacity(max_bytes)
            .weigher(|key: &Arc<str>, kept: &Kept| {
                let bytes = key.len() + kept.output.as_str().len();
                u32::try_from(bytes).unwrap_or(u32::MAX)
            })
            .expire_after(ByResult)
            .build();
        MokaCache(cache)
    }
}

#[async_trait]
impl ToolCache for MokaCache {
    async fn get(&self, key: &CacheKey) -> Result<Option<Json>, CacheError> {
        Ok(self.0.get(key.digest()).map(|kept| kept.output))
    }

    async fn put(
        &self,
        key: &CacheKey,
        output: &Json,
        keep_for: Option<Duration>,
    ) -> Result<(), CacheError> {
        let kept = Kept {
            output: output.clone(),
            keep_for: keep_for.map(|time| time.min(A_CENTURY)),
        };
        self.0.insert(key.digest().into(), kept);
        Ok(())
    }
}

impl fmt::Debug for MokaCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MokaCache")
            .field("entries", &self.0.entry_count())
            .finish_non_exhaustive()
    }
}
