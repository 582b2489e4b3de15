use super::{Rate, RateLimiter};
use crate::{
    async_trait,
    tool::{Pattern, ToolSpec},
};
use governor::{
    DefaultKeyedRateLimiter, Quota,
    clock::{Clock, DefaultClock},
};
use std::{fmt, num::NonZeroU32, time::Duration};

/// Number of pairs of tenant and tool beyond which those without recent calls are forgotten.
const MANY: usize = 10_000;

/// A concurrent rate limiter, by `governor`, which counts for each tenant and each tool separately.
///
/// A tool that several limits match has to keep all of them. If one limit refuses a call, the
/// others may have counted it already.
///
/// ```
/// # use agents_core as agents;
/// use agents::rate::{GovernorLimiter, Rate};
///
/// let limiter = GovernorLimiter::new().limit("web_*", Rate::per_minute(60));
/// ```
#[derive(Default)]
pub struct GovernorLimiter {
    limits: Vec<Limit>,
    clock: DefaultClock,
}

struct Limit {
    tools: Pattern,
    rate: Rate,
    /// Limiter that enforces this limit; `None` if the limit allows no call at all.
    limiter: Option<DefaultKeyedRateLimiter<(String, String)>>,
}

impl GovernorLimiter {
    /// Creates a limiter that limits no tool yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a limit for each of the tools whose names match the pattern.
    #[must_use]
    pub fn limit(mut self, tools: impl Into<Pattern>, rate: Rate) -> Self {
        let quota = NonZeroU32::new(rate.times()).and_then(|times| {
            let share = rate.per() / times.get();
            Some(Quota::with_period(share)?.allow_burst(times))
        });
        self.limits.push(Limit {
            tools: tools.into(),
            rate,
            limiter: quota.map(DefaultKeyedRateLimiter::keyed),
        });
        self
    }
}

#[async_trait]
impl RateLimiter for GovernorLimiter {
    async fn try_acquire(&self, tenant: &str, tool: &ToolSpec) -> Result<(), Duration> {
        let name = tool.own_name();
        let meant = |limit: &&Limit| limit.tools.matches(name) || limit.tools.matches(&tool.name);
        for limit in self.limits.iter().filter(meant) {
            let Some(limiter) = &limit.limiter else {
                return Err(limit.rate.per());
            };
            if limiter.len() > MANY {
                limiter.retain_recent();
            }
            let place = (tenant.to_owned(), name.to_owned());
            if let Err(until) = limiter.check_key(&place) {
                return Err(until.wait_time_from(self.clock.now()));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for GovernorLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = self.limits.iter();
        f.debug_list()
            .entries(limits.map(|limit| (&limit.tools, limit.rate)))
            .finish()
    }
}
