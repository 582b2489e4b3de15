use super::{Rate, RateLimiter};
use crate::tool::{Pattern, ToolSpec};
use async_trait::async_trait;
use std::{
    collections::HashMap,
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// A rate limiter in memory, which counts for each tenant and each tool separately.
///
/// A tool that several limits match has to keep all of them. Runs share the limiter, so it counts by the system's
/// time, not by the clock of any run. The counts end with the process.
///
/// ```
/// # use agents_core as agents;
/// use agents::rate::{MemoryLimiter, Rate, RateLimiter};
/// use agents::{Effects, tool::ToolSpec};
/// use serde_json::json;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
///
/// let limiter = MemoryLimiter::new().limit("web_*", Rate::per_minute(1));
/// let tool = ToolSpec::new("web_search", "Searches.", Effects::Reads, json!({"type": "object"}));
/// assert!(limiter.try_acquire("acme", &tool).await.is_ok());
/// assert!(limiter.try_acquire("acme", &tool).await.is_err());
/// assert!(limiter.try_acquire("globex", &tool).await.is_ok(), "each tenant on its own");
/// # }
/// ```
#[derive(Default)]
pub struct MemoryLimiter {
    limits: Vec<(Pattern, Rate)>,
    used: Mutex<Used>,
}

/// Time at which all permissions will be available again, by index of the limit, tenant and tool.
#[derive(Default)]
struct Used {
    until: HashMap<(usize, String, String), Instant>,
    /// Number of entries at which those are removed whose limits have filled up again, so that memory stays bounded.
    sweep_at: usize,
}

impl MemoryLimiter {
    /// Creates a limiter that limits no tool yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a limit for each of the tools that the pattern matches: by the name that models use, or by the tool's own
    /// name.
    #[must_use]
    pub fn limit(mut self, tools: impl Into<Pattern>, rate: Rate) -> Self {
        self.limits.push((tools.into(), rate));
        self
    }

    fn take_now(&self, tenant: &str, tool: &ToolSpec, now: Instant) -> Result<(), Duration> {
        let name = tool.own_name();
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = Vec::new();
        for (index, (pattern, rate)) in self.limits.iter().enumerate() {
            if !pattern.matches(name) && !pattern.matches(&tool.name) {
                continue;
            }
            let Some(share) = rate.per.checked_div(rate.times) else {
                return Err(rate.per);
            };
            let place = (index, tenant.to_owned(), name.to_owned());
            let until = used.until.get(&place).copied().unwrap_or(now).max(now);
            // No limit is charged unless all limits allow the call.
            let filled = until + share;
            match filled.checked_duration_since(now + rate.per) {
                Some(wait) if !wait.is_zero() => return Err(wait),
                _ => taken.push((place, filled)),
            }
        }
        used.until.extend(taken);
        if used.until.len() >= used.sweep_at {
            used.until.retain(|_, until| *until > now);
            used.sweep_at = (used.until.len() * 2).max(64);
        }
        Ok(())
    }
}

#[async_trait]
impl RateLimiter for MemoryLimiter {
    async fn try_acquire(&self, tenant: &str, tool: &ToolSpec) -> Result<(), Duration> {
        self.take_now(tenant, tool, Instant::now())
    }
}

impl fmt::Debug for MemoryLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLimiter")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effects;
    use serde_json::json;

    fn tool(name: &'static str) -> ToolSpec {
        ToolSpec::new(name, "", Effects::None, json!({}))
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn so_many_at_once_and_then_by_and_by() {
        let limiter = MemoryLimiter::new().limit("a", Rate::per_second(4));
        let (a, mut now) = (tool("a"), Instant::now());
        for _ in 0..4 {
            assert_eq!(limiter.take_now("t", &a, now), Ok(()));
        }
        assert_eq!(limiter.take_now("t", &a, now), Err(SECOND / 4));
        now += SECOND / 4;
        assert_eq!(limiter.take_now("t", &a, now), Ok(()));
        assert_eq!(limiter.take_now("t", &a, now), Err(SECOND / 4));
        now += SECOND * 9;
        for _ in 0..4 {
            assert_eq!(limiter.take_now("t", &a, now), Ok(()));
        }
        assert!(limiter.take_now("t", &a, now).is_err());
    }

    #[test]
    fn tenants_and_tools_do_not_share() {
        let limiter = MemoryLimiter::new().limit("a*", Rate::per_second(1));
        let now = Instant::now();
        for (tenant, name) in [("t", "a"), ("u", "a"), ("t", "ab")] {
            assert_eq!(limiter.take_now(tenant, &tool(name), now), Ok(()));
            assert!(limiter.take_now(tenant, &tool(name), now).is_err());
        }
        for _ in 0..9 {
            assert_eq!(limiter.take_now("t", &tool("b"), now), Ok(()));
        }
    }

    #[test]
    fn of_two_limits_the_tighter_counts_and_nothing_is_taken_in_vain() {
        let limiter = MemoryLimiter::new()
            .limit("*", Rate::per_second(2))
            .limit("a", Rate::per_minute(1));
        let now = Instant::now();
        assert_eq!(limiter.take_now("t", &tool("a"), now), Ok(()));
        for _ in 0..5 {
            assert_eq!(
                limiter.take_now("t", &tool("a"), now),
                Err(Duration::from_secs(60))
            );
        }
        let later = now + Duration::from_secs(60);
        assert_eq!(limiter.take_now("t", &tool("a"), later), Ok(()));
        let never = MemoryLimiter::new().limit("*", Rate::per_second(0));
        assert_eq!(never.take_now("t", &tool("a"), now), Err(SECOND));
    }

    #[test]
    fn a_period_without_end_is_a_long_one() {
        let limiter = MemoryLimiter::new().limit("*", Rate::new(2, Duration::MAX));
        let now = Instant::now();
        assert_eq!(limiter.take_now("t", &tool("a"), now), Ok(()));
        assert_eq!(limiter.take_now("t", &tool("a"), now), Ok(()));
        assert!(limiter.take_now("t", &tool("a"), now).is_err());
    }

    #[test]
    fn what_has_come_back_is_forgotten() {
        let limiter = MemoryLimiter::new().limit("*", Rate::per_second(1));
        let mut now = Instant::now();
        for tenant in 0..10_000 {
            now += SECOND;
            let _ = limiter.take_now(&tenant.to_string(), &tool("a"), now);
        }
        assert!(limiter.used.lock().unwrap().until.len() < 100);
    }
}
