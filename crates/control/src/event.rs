//! Events that a control plane tells its subscribers.

use agents_core::PurposeKey;
use std::{fmt, sync::Arc};

/// Event of a control plane, which subscribers are told and a log line repeats.
///
/// ```
/// use agents_control::{ControlEvent, ControlPlane, SqliteStore};
///
/// fn tell(event: &ControlEvent) -> String {
///     match event {
///         ControlEvent::CircuitOpened { provider, model } => format!("{provider}/{model} is not asked for now"),
///         other => other.name().to_owned(),
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = SqliteStore::in_memory().await?;
/// let control = ControlPlane::open(&store).on_event(|event| eprintln!("{}", tell(event)));
/// # let _ = control;
/// # let (provider, model) = ("mine".to_owned(), "small".to_owned());
/// assert_eq!(tell(&ControlEvent::CircuitClosed { provider, model }), "llm.circuit.closed");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ControlEvent {
    /// A model is not asked any more, because its requests fail again and again: `llm.circuit.opened`.
    CircuitOpened {
        /// Name of the provider that serves the failing model.
        provider: String,
        /// Name of the model that is not asked any more.
        model: String,
    },
    /// The model answers again, and is asked again: `llm.circuit.closed`.
    CircuitClosed {
        /// Name of the provider that serves the model that answers again.
        provider: String,
        /// Name of the model that is asked again.
        model: String,
    },
    /// The money that was spent today, in UTC, and the money that is held for requests under way have together reached
    /// 80 % of a cap: `llm.budget.warning`. The event comes once a day for each organisation, workspace and purpose.
    BudgetWarning {
        /// Id of the organisation (tenant) whose cap on costs is almost reached.
        org_id: String,
        /// Id of the workspace whose cap on costs is almost reached; `None` for the organisation itself.
        domain_id: Option<String>,
        /// Purpose of the requests to which the cap applies.
        purpose: PurposeKey,
        /// Cap on the costs of a day, in billionths of a dollar.
        cap_nanos: u64,
    },
}

impl ControlEvent {
    /// Returns the name of the event, such as `llm.budget.warning`.
    pub fn name(&self) -> &'static str {
        match self {
            ControlEvent::CircuitOpened { .. } => "llm.circuit.opened",
            ControlEvent::CircuitClosed { .. } => "llm.circuit.closed",
            ControlEvent::BudgetWarning { .. } => "llm.budget.warning",
        }
    }
}

type Subscriber = Arc<dyn Fn(&ControlEvent) + Send + Sync>;

/// Subscribers of a control plane, which are told its events in the order of their registration.
#[derive(Default)]
pub(crate) struct Subscribers(Vec<Subscriber>);

impl Subscribers {
    pub(crate) fn add(&mut self, subscriber: impl Fn(&ControlEvent) + Send + Sync + 'static) {
        self.0.push(Arc::new(subscriber));
    }

    /// Tells all subscribers of an event, and writes a log line about it.
    pub(crate) fn tell(&self, event: &ControlEvent) {
        match event {
            ControlEvent::CircuitOpened { provider, model } => {
                tracing::warn!(
                    event = event.name(),
                    provider,
                    model,
                    "a circuit has opened"
                );
            }
            ControlEvent::CircuitClosed { provider, model } => {
                tracing::info!(
                    event = event.name(),
                    provider,
                    model,
                    "a circuit has closed"
                );
            }
            ControlEvent::BudgetWarning {
                org_id, purpose, ..
            } => {
                let purpose = purpose.as_str();
                tracing::warn!(
                    event = event.name(),
                    org_id,
                    purpose,
                    "80 % of a cap are used"
                );
            }
        }
        for subscriber in &self.0 {
            subscriber(event);
        }
    }
}

impl fmt::Debug for Subscribers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} subscribers", self.0.len())
    }
}
