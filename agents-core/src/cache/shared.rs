use super::{
    CacheError, CacheKey, MemoryCache, ToolCache,
    flight::{Arrival, Flights, Seat},
};
use crate::{Json, error::Cause, panics::patiently};
use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

/// Time after which a cache that does not answer is treated as empty, and the call runs.
const PATIENCE: Duration = Duration::from_secs(5);

tokio::task_local! {
    /// Cache keys of the calls within which this task works. A call with one of these keys runs without the cache: if
    /// it waited for the call around it, neither would end.
    static ABOVE: Vec<CacheKey>;
}

/// Wrapper that lets many runs share one cache. Of identical calls at the same time, the first is executed, and the
/// others wait for its result. If the first call fails, or its result may not be reused, the others run themselves.
///
/// Clones share the same cache.
///
/// ```
/// # use agents_core as agents;
/// use agents::cache::{MemoryCache, SharedCache};
/// # use agents::{Agent, agent::ModelAgent};
/// # async fn run(clerk: ModelAgent<'_, String, String>) -> Result<(), agents::Error> {
/// let cache = SharedCache::new(MemoryCache::new());
/// // What both of them look up is looked up once.
/// let (one, other) = tokio::join!(
///     clerk.run("What does ACME owe?").scope("acme").cache(cache.clone()).into_future(),
///     clerk.run("When does ACME pay?").scope("acme").cache(cache).into_future(),
/// );
/// # let _ = (one, other);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SharedCache(Arc<Inner>);

struct Inner {
    cache: Box<dyn ToolCache>,
    flights: Flights,
}

/// Source of a call's result: the cache, or a run of the tool.
pub(crate) enum Served {
    /// The result was in the cache, or an identical call delivered it.
    Cached(Json),
    /// The tool ran for this call, since no result could be reused, or since the call is within an equal call.
    Ran(Result<Json, Cause>),
}

impl SharedCache {
    /// Wraps a cache, so that several runs can share it.
    pub fn new(cache: impl ToolCache) -> Self {
        SharedCache(Arc::new(Inner {
            cache: Box::new(cache),
            flights: Flights::default(),
        }))
    }

    /// Returns the cached result, or else that of `work`. The result of `work` is put into the cache if it is a success
    /// and `is_whole` returns `true` after it.
    pub(crate) async fn serve(
        &self,
        key: CacheKey,
        keep_for: Option<Duration>,
        work: impl Future<Output = Result<Json, Cause>>,
        is_whole: impl Fn() -> bool,
    ) -> Served {
        let around = ABOVE.try_with(Clone::clone).unwrap_or_default();
        if around.contains(&key) {
            return Served::Ran(work.await);
        }
        let within = around.into_iter().chain([key.clone()]).collect();
        let work = async {
            let result = ABOVE.scope(within, work).await;
            match &result {
                Ok(output) if is_whole() => {
                    self.put(&key, output, keep_for).await;
                    (result, true)
                }
                _ => (result, false),
            }
        };
        loop {
            match self.0.flights.board(&key) {
                Seat::Pilot(pilot) => {
                    if let Some(output) = self.get(&key).await {
                        pilot.landed(output.clone());
                        return Served::Cached(output);
                    }
                    let (result, is_kept) = work.await;
                    match &result {
                        Ok(output) if is_kept => pilot.landed(output.clone()),
                        _ => pilot.failed(),
                    }
                    return Served::Ran(result);
                }
                Seat::Passenger(passenger) => match passenger.arrival().await {
                    Arrival::Landed(output) => return Served::Cached(output),
                    // All calls that waited run now, at the same time: one after the other would
                    // take too long.
                    Arrival::Failed => return Served::Ran(work.await.0),
                    Arrival::Abandoned => {}
                },
            }
        }
    }

    async fn get(&self, key: &CacheKey) -> Option<Json> {
        let found = self.0.cache.get(key);
        self.patiently(key, found).await.flatten()
    }

    async fn put(&self, key: &CacheKey, output: &Json, keep_for: Option<Duration>) {
        let kept = self.0.cache.put(key, output, keep_for);
        self.patiently(key, kept).await;
    }

    /// Returns the answer of the cache; `None` if the cache fails or takes longer than 5 seconds.
    async fn patiently<T>(
        &self,
        key: &CacheKey,
        work: impl Future<Output = Result<T, CacheError>>,
    ) -> Option<T> {
        let tool = key.tool();
        match patiently(PATIENCE, work).await {
            Ok(Ok(answer)) => return Some(answer),
            Ok(Err(error)) => tracing::warn!(tool, %error, "the cache failed"),
            Err(amiss) => tracing::warn!(tool, "the cache {amiss}"),
        }
        None
    }
}

impl<C: ToolCache> From<C> for SharedCache {
    fn from(cache: C) -> Self {
        SharedCache::new(cache)
    }
}

impl fmt::Debug for SharedCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedCache")
    }
}

/// Cache of tool results that one run uses.
pub(crate) enum Caching {
    /// A cache of the run's own, made on first use.
    Own(OnceLock<SharedCache>),
    /// A cache that the run was given.
    Given(SharedCache),
    /// No results are reused: each call runs its tool.
    Off,
}

impl Default for Caching {
    fn default() -> Self {
        Caching::Own(OnceLock::new())
    }
}

impl Caching {
    pub(crate) fn cache(&self) -> Option<&SharedCache> {
        match self {
            Caching::Own(own) => Some(own.get_or_init(|| SharedCache::new(MemoryCache::new()))),
            Caching::Given(given) => Some(given),
            Caching::Off => None,
        }
    }

    /// Makes a nested run share the cache of the run around it, unless the nested run has settings of its own.
    pub(crate) fn inherit(&mut self, outer: &Caching) {
        if let Caching::Own(own) = self
            && own.get().is_none()
        {
            *self = match outer.cache() {
                Some(cache) => Caching::Given(cache.clone()),
                None => Caching::Off,
            };
        }
    }
}
