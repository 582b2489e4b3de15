use serde::{Deserialize, Serialize};
use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Point in time in milliseconds since the Unix epoch; displayed and serialized as RFC 3339 in UTC.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::Timestamp;
/// use std::time::Duration;
///
/// let noon = Timestamp::from_millis(43_200_000);
/// assert_eq!(noon.to_string(), "1970-01-01T12:00:00.000Z");
/// assert_eq!(noon.since(Timestamp::from_millis(43_199_000)), Duration::from_secs(1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Returns the current time of the system clock.
    pub fn now() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// Creates a timestamp from milliseconds since the Unix epoch.
    pub fn from_millis(millis: u64) -> Self {
        Timestamp(millis)
    }

    /// Returns the milliseconds since the Unix epoch.
    pub fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the time elapsed since `earlier`; zero if it is not earlier.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Years beyond 9999 cannot be written, and no real clock shows them.
        let at = UNIX_EPOCH + Duration::from_millis(self.0.min(253_402_300_799_999));
        humantime::format_rfc3339_millis(at).fmt(f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let at = humantime::parse_rfc3339_weak(&text).map_err(serde::de::Error::custom)?;
        let since = at
            .duration_since(UNIX_EPOCH)
            .map_err(serde::de::Error::custom)?;
        Ok(Timestamp(
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        ))
    }
}

/// Source of a run's timestamps and of its id.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Clock, Timestamp};
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
///
/// /// Every reading is a second later: for tests that compare receipts.
/// #[derive(Default)]
/// struct Ticking(AtomicU64);
///
/// impl Clock for Ticking {
///     fn now(&self) -> Timestamp {
///         Timestamp::from_millis(1_000 * self.0.fetch_add(1, Relaxed))
///     }
///
///     fn run_id(&self) -> String {
///         "run-1".into()
///     }
/// }
/// # use agents::{Agent, AgentBuilder, testing::{Script, ScriptedModel}};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("42")]);
/// # let agent = AgentBuilder::<String, u32>::new("oracle").model(model).build();
/// let outcome = agent.run("?").clock(Ticking::default()).outcome().await?;
/// assert_eq!(outcome.run_id, "run-1");
/// # Ok(())
/// # }
/// ```
pub trait Clock: Send + Sync + 'static {
    /// Returns the time that facts, events and receipts of a run are given.
    fn now(&self) -> Timestamp;

    /// Returns the id for a new run; by default, a UUID of version 7. A stored run that goes on keeps its id.
    fn run_id(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn run_id(&self) -> String {
        (**self).run_id()
    }
}

/// Clock of the system; ids of runs are UUIDs of version 7.
///
/// ```
/// # use agents_core as agents;
/// use agents::run::{Clock, SystemClock, Timestamp};
///
/// /// The real time, under an id that is known before the run begins.
/// struct Under(&'static str);
///
/// impl Clock for Under {
///     fn now(&self) -> Timestamp {
///         SystemClock.now()
///     }
///
///     fn run_id(&self) -> String {
///         self.0.into()
///     }
/// }
/// # assert_eq!(Under("job-17").run_id(), "job-17");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
