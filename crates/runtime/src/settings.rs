//! Settings of a runtime, which its builder methods set.

use crate::{notifications::Subscriber, webhook::Webhook};
use agents_core::{Model, model::Purposes, policy::Policy, secret::Secrets};
use std::{sync::Arc, time::Duration};

/// Rule of whether an agent of a stored run may go on with another model: it gets the names of the model before and of the
/// model now.
pub(crate) type ModelChange = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// Settings of a runtime, as its builder has collected them.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) model: Option<Arc<dyn Model>>,
    pub(crate) purposes: Option<Arc<dyn Purposes>>,
    pub(crate) known_models: Vec<Arc<dyn Model>>,
    pub(crate) model_changes: Vec<ModelChange>,
    pub(crate) policies: Vec<Arc<dyn Policy>>,
    pub(crate) secrets: Option<Arc<dyn Secrets>>,
    pub(crate) worker: String,
    pub(crate) lease: Duration,
    pub(crate) at_once: usize,
    pub(crate) per_tenant: u32,
    pub(crate) expires_after: Duration,
    pub(crate) grace: Duration,
    pub(crate) webhooks: Vec<Webhook>,
    pub(crate) subscribers: Vec<Subscriber>,
    pub(crate) keep_contents: Option<Duration>,
}
