//! Settings of a run, given before it begins.

use super::{Activity, Exchange, Executor, GivenJournal, Past, Stopwatch, Subscriber, Writer};
use crate::{
    Error, ErrorKind,
    journal::{Projection, Replay, RunKey},
    model::{Model, PurposeKey, Purposes, name_of},
    run::{
        Approver, Budget, Clock, Findings, Steering, SystemClock, ToolCallMetadata, ToolEnvelope,
    },
    secret::{Masker, Secret, SecretValue, Secrets},
    shared::Shared,
    tool::Scope,
};
use secrecy::ExposeSecret;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

pub(crate) type ToolHook = Arc<dyn Fn(&ToolEnvelope) + Send + Sync>;
/// Rule of whether an agent of a stored run may go on with another model: it gets the names of the model before and of the
/// model now.
pub(crate) type ModelChange = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;
pub(crate) type ReceiptHook = Arc<dyn Fn(&ToolEnvelope, &ToolCallMetadata) + Send + Sync>;

/// Settings that the user gave to a run before it began.
pub(crate) struct Settings {
    pub(crate) model: Option<Arc<dyn Model>>,
    /// Source of models for requests that name a purpose instead of a model.
    pub(crate) purposes: Option<Arc<dyn Purposes>>,
    pub(crate) scope: Scope,
    pub(crate) secrets: BTreeMap<String, SecretValue>,
    /// Source of the secrets that were not given to the run itself.
    pub(crate) secret_store: Option<Arc<dyn Secrets>>,
    /// Masker that hides secrets in text; shared with the runs within this one.
    pub(crate) masker: Arc<Masker>,
    /// Models among which a stored run finds those that it names.
    pub(crate) known_models: Vec<Arc<dyn Model>>,
    /// Cancellation tokens; the run ends when one of them is cancelled.
    pub(crate) cancel: Vec<CancellationToken>,
    /// Token that is cancelled when the run is to be put down: no effect begins from then on. `None` if nobody puts it
    /// down so.
    pub(crate) no_effects: Option<CancellationToken>,
    /// Instructions of people to the run, and its pauses.
    pub(crate) steering: Option<Steering>,
    pub(crate) budget: Option<Budget>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) subscribers: Vec<Subscriber>,
    pub(crate) tool_hooks: Vec<ToolHook>,
    pub(crate) receipt_hooks: Vec<ReceiptHook>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Is `true` if the user set the clock of this run, so that it does not take over the clock of the run around it.
    pub(crate) has_own_clock: bool,
    /// Model that is asked instead of every other.
    pub(crate) override_model: Option<Arc<dyn Model>>,
    /// Rules that allow a stored run to go on with another model.
    pub(crate) model_changes: Vec<ModelChange>,
    /// Recorded run that is replayed; shared with the runs within this one.
    pub(crate) replay: Option<Arc<Replay>>,
    /// Journal that was given to this run itself. A nested run without one uses the outer run's writer.
    pub(crate) journal: Option<GivenJournal>,
    pub(crate) writer: Option<Arc<Writer>>,
    /// Executions that the runs have had, for repeated calls; shared with the runs within this one.
    pub(crate) past: Arc<Past>,
    /// Findings of people about calls in doubt; shared with the runs within this one.
    pub(crate) findings: Findings,
    /// Count of what moves in the run and in the runs within it, by which it is noticed that all wait for people.
    /// `None` unless the run is to end then.
    pub(crate) activity: Option<Arc<Activity>>,
    pub(crate) exchange: Option<Box<Exchange>>,
    pub(crate) strict: bool,
    /// Is `true` if a person is asked about a call that has run before.
    pub(crate) confirms_repeats: bool,
    /// Is `true` if a call like one that was denied is refused without a question.
    pub(crate) refuses_denied: bool,
    pub(crate) record_content: bool,
    /// URL where traces can be looked at, with placeholders for the ids.
    pub(crate) traces_url: Option<Arc<str>>,
    /// Fencing token of the lease under which the run goes on.
    pub(crate) fence: Option<u64>,
    /// Number of runs that this one is nested in.
    pub(crate) nesting_depth: u32,
    /// Key by which the run around this one recognises arguments; `None` without a run around.
    pub(crate) key_around: Option<RunKey>,
    /// Innermost deadline around this run: of an execution, of an agent or of a run; `None` if there is none.
    pub(crate) watch: Option<Shared<Stopwatch>>,
    pub(crate) tool_timeout: Duration,
    pub(crate) max_output_bytes: usize,
    pub(crate) max_argument_bytes: usize,
    pub(crate) executor: Executor,
}

impl Settings {
    /// Returns the settings by which receipts and messages are made from facts.
    pub(crate) fn projection(&self) -> Projection {
        Projection {
            masker: self.masker.clone(),
            max_output_bytes: self.max_output_bytes,
        }
    }

    /// Returns the model to ask: `own`, that of the agent or of its caller, unless the run overrides all models.
    pub(crate) fn model_for(&self, own: Option<Arc<dyn Model>>) -> Option<Arc<dyn Model>> {
        self.override_model.clone().or(own)
    }

    /// Returns the model that stands for a purpose in this run; `None` if the run knows no models for purposes.
    pub(crate) fn model_of(&self, purpose: &PurposeKey) -> Option<Arc<dyn Model>> {
        let purposes = self.purposes.as_ref()?;
        Some(purposes.model(purpose, &self.scope))
    }

    /// Returns the name of the model if the run may not ask it; `None` if it may. In a run with models for purposes,
    /// any other model has to be admitted by its name.
    pub(crate) fn refused<'m>(&self, model: &'m dyn Model) -> Option<&'m str> {
        let purposes = self.purposes.as_ref();
        // The model of tests and of recorded runs is no model that is paid for.
        let purposes = purposes.filter(|_| self.override_model.is_none())?;
        // The id of a model with a fallback has the ids of both.
        model.id().split('|').find(|id| !purposes.admits(id))
    }

    /// Returns the model with this name, if the run was told of one.
    pub(crate) fn known_model(&self, name: &str) -> Option<&Arc<dyn Model>> {
        let mut known = self.known_models.iter();
        known.find(|model| name_of(model.id()) == name_of(name))
    }

    /// Returns `true` if an agent that was driven by the model `before` may go on with the model `now`.
    pub(crate) fn may_change(&self, before: &str, now: &str) -> bool {
        let (before, now) = (name_of(before), name_of(now));
        before == now
            || self.override_model.is_some()
            || self.model_changes.iter().any(|may| may(before, now))
    }

    /// Has the masker hide the secrets that were given to the run itself, at the start of the run.
    pub(crate) fn hide(&self) -> Result<(), Error> {
        for (name, value) in &self.secrets {
            let learnt = Secret::of_run(value.clone()).hide(name, &self.masker);
            learnt.map_err(|error| Error::new(ErrorKind::Build, error.to_string()))?;
        }
        Ok(())
    }

    /// Returns a digest of the workspace, the user and the given secrets: runs with different digests share no cached
    /// results.
    ///
    /// The digest is empty in a run without secrets, which shares cached results with its whole tenant.
    pub(super) fn secret_scope(&self) -> Vec<u8> {
        if self.secrets.is_empty() && self.secret_store.is_none() {
            return Vec::new();
        }
        let mut digest = hmac_sha256::Hash::new();
        let mut add = |part: &str| {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        };
        let Scope {
            domain_id, user_id, ..
        } = &self.scope;
        for holder in [domain_id, user_id] {
            add(if holder.is_some() { "some" } else { "none" });
            add(holder.as_deref().unwrap_or_default());
        }
        for (name, secret) in &self.secrets {
            add(name);
            add(secret.text().expose_secret());
        }
        digest.finalize().to_vec()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            model: None,
            purposes: None,
            scope: Scope::default(),
            secrets: BTreeMap::new(),
            secret_store: None,
            masker: Masker::new(),
            known_models: Vec::new(),
            cancel: Vec::new(),
            no_effects: None,
            steering: None,
            budget: None,
            approver: None,
            subscribers: Vec::new(),
            tool_hooks: Vec::new(),
            receipt_hooks: Vec::new(),
            clock: Arc::new(SystemClock),
            has_own_clock: false,
            override_model: None,
            model_changes: Vec::new(),
            replay: None,
            journal: None,
            writer: None,
            past: Arc::default(),
            findings: Findings::default(),
            activity: None,
            exchange: None,
            strict: false,
            confirms_repeats: false,
            refuses_denied: false,
            record_content: false,
            traces_url: None,
            fence: None,
            nesting_depth: 0,
            key_around: None,
            watch: None,
            tool_timeout: Duration::from_secs(300),
            max_output_bytes: 2_000_000,
            max_argument_bytes: 1_000_000,
            executor: Executor::default(),
        }
    }
}
