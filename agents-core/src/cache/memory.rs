use super::{CacheError, CacheKey, ToolCache};
use crate::Json;
use async_trait::async_trait;
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// A cache in memory with least-recently-used eviction. Runs may [share](super::SharedCache) the cache, so results
/// expire by the system's time, not by the clock of any run.
///
/// ```
/// # use agents_core as agents;
/// use agents::cache::MemoryCache;
///
/// let small = MemoryCache::new().max_entries(100).max_bytes(1_000_000);
/// ```
pub struct MemoryCache {
    max_entries: usize,
    max_bytes: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<CacheKey, Entry>,
    /// Keys of the results, by the time at which they were last requested or stored, the oldest first; `None` until a
    /// result has to make room for the first time.
    order: Option<BTreeMap<u64, CacheKey>>,
    bytes: usize,
    clock: u64,
}

struct Entry {
    output: Json,
    until: Option<Instant>,
    asked: u64,
}

impl MemoryCache {
    /// Creates a cache that holds up to 1,000 results and 64 MB in total.
    pub fn new() -> Self {
        MemoryCache {
            max_entries: 1_000,
            max_bytes: 64_000_000,
            kept: Mutex::default(),
        }
    }

    /// Sets how many results the cache holds; 1,000 by default.
    #[must_use]
    pub fn max_entries(mut self, entries: usize) -> Self {
        self.max_entries = entries;
        self
    }

    /// Sets how many bytes all results together may take, as JSON; 64,000,000 by default. A result that is larger by
    /// itself is not kept.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryCache {
    fn default() -> Self {
        Self::new()
    }
}

impl Kept {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn get(&mut self, key: &CacheKey) -> Option<Json> {
        let now = self.tick();
        let entry = self.entries.get_mut(key)?;
        if entry.until.is_some_and(|until| until <= Instant::now()) {
            self.remove(key);
            return None;
        }
        if let Some(order) = &mut self.order {
            order.remove(&entry.asked);
            order.insert(now, key.clone());
        }
        entry.asked = now;
        Some(entry.output.clone())
    }

    fn put(&mut self, key: &CacheKey, output: Json, until: Option<Instant>) {
        self.remove(key);
        let asked = self.tick();
        self.bytes += output.as_str().len();
        if let Some(order) = &mut self.order {
            order.insert(asked, key.clone());
        }
        let entry = Entry {
            output,
            until,
            asked,
        };
        self.entries.insert(key.clone(), entry);
    }

    fn remove(&mut self, key: &CacheKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.output.as_str().len();
            if let Some(order) = &mut self.order {
                order.remove(&entry.asked);
            }
        }
    }

    fn shrink(&mut self, max_entries: usize, max_bytes: usize) {
        while self.entries.len() > max_entries || self.bytes > max_bytes {
            let order = self.order.get_or_insert_with(|| {
                let entries = self.entries.iter();
                entries
                    .map(|(key, entry)| (entry.asked, key.clone()))
                    .collect()
            });
            match order.first_key_value().map(|(_, key)| key.clone()) {
                Some(oldest) => self.remove(&oldest),
                None => return,
            }
        }
    }
}

#[async_trait]
impl ToolCache for MemoryCache {
    async fn get(&self, key: &CacheKey) -> Result<Option<Json>, CacheError> {
        Ok(self.kept().get(key))
    }

    async fn put(
        &self,
        key: &CacheKey,
        output: &Json,
        keep_for: Option<Duration>,
    ) -> Result<(), CacheError> {
        // A time beyond the end of the clock means for ever.
        let until = keep_for.and_then(|time| Instant::now().checked_add(time));
        let mut kept = self.kept();
        // What is too large by itself would push out all others first.
        match output.as_str().len() > self.max_bytes {
            true => kept.remove(key),
            false => kept.put(key, output.clone(), until),
        }
        kept.shrink(self.max_entries, self.max_bytes);
        Ok(())
    }
}

impl fmt::Debug for MemoryCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.kept();
        f.debug_struct("MemoryCache")
            .field("entries", &kept.entries.len())
            .field("bytes", &kept.bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{super::CacheQuery, *};
    use crate::{Effects, tool::ToolSpec};
    use serde_json::json;

    fn key(n: u32) -> CacheKey {
        let spec = ToolSpec::new("t", "", Effects::Reads, json!({}));
        CacheKey::of(&CacheQuery {
            spec: &spec,
            instance: &|_| {},
            args: &n.to_string(),
            tenant: "acme",
            secrets: &[],
        })
    }

    async fn has(cache: &MemoryCache, n: u32) -> bool {
        cache.get(&key(n)).await.unwrap().is_some()
    }

    #[tokio::test]
    async fn what_was_not_asked_for_goes_first() {
        let cache = MemoryCache::new().max_entries(2);
        for n in [1, 2] {
            cache.put(&key(n), &Json::string("x"), None).await.unwrap();
        }
        assert!(has(&cache, 1).await);
        cache.put(&key(3), &Json::string("x"), None).await.unwrap();
        assert!(has(&cache, 1).await && !has(&cache, 2).await && has(&cache, 3).await);
    }

    #[tokio::test]
    async fn all_together_are_bounded() {
        let cache = MemoryCache::new().max_bytes(25);
        for n in 0..9 {
            let ten = Json::string("12345678");
            cache.put(&key(n), &ten, None).await.unwrap();
        }
        assert!(!has(&cache, 6).await && has(&cache, 7).await && has(&cache, 8).await);
        let huge = Json::string(&"x".repeat(100));
        cache.put(&key(9), &huge, None).await.unwrap();
        assert!(!has(&cache, 9).await, "it is too large by itself");
        assert!(has(&cache, 7).await && has(&cache, 8).await);
        cache.put(&key(8), &huge, None).await.unwrap();
        assert!(!has(&cache, 8).await, "the result of before is out of date");
        assert_eq!(cache.kept().bytes, 10);
        assert_eq!(cache.kept().order.as_ref().unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn time_goes_by() {
        let cache = MemoryCache::new();
        let minute = Some(Duration::from_secs(60));
        cache
            .put(&key(1), &Json::string("x"), minute)
            .await
            .unwrap();
        cache
            .put(&key(2), &Json::string("x"), Some(Duration::MAX))
            .await
            .unwrap();
        tokio::time::advance(Duration::from_secs(59)).await;
        assert!(has(&cache, 1).await);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!has(&cache, 1).await && has(&cache, 2).await);
    }
}
