use super::{
    Approver, Begun, Budget, Clock, Event, EventKind, Executor, Node, RunContext, Snapshot, Stop,
    Stopwatch, SystemClock, Talk, Tape, Timestamp, ToolEnvelope, clock::id_within, terms::Terms,
    watched::Watched,
};
use crate::{
    Error, ErrorKind, Json,
    error::escalation::EscalationReceipt,
    model::{Model, Usage},
    panics::told,
    reader::Repairs,
    secret::{Masker, Secrets},
    tool::Scope,
};
use secrecy::{ExposeSecret, SecretString};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

pub(crate) type Subscriber = Arc<dyn Fn(&Event) + Send + Sync>;
pub(crate) type ToolHook = Arc<dyn Fn(&ToolEnvelope) + Send + Sync>;
pub(crate) type Keeper = Arc<dyn Fn(Snapshot) + Send + Sync>;

/// What the user said about a run before it began.
pub(crate) struct Settings {
    pub(crate) model: Option<Arc<dyn Model>>,
    pub(crate) scope: Scope,
    pub(crate) secrets: BTreeMap<String, SecretString>,
    /// Who is asked for the secrets that were not given to the run itself.
    pub(crate) keeper_of_secrets: Option<Arc<dyn Secrets>>,
    /// What hides secrets; shared with the runs within this one.
    pub(crate) masker: Arc<Masker>,
    /// Each of these ends the run.
    pub(crate) cancel: Vec<CancellationToken>,
    pub(crate) budget: Option<Budget>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) subscribers: Vec<Subscriber>,
    pub(crate) tool_hooks: Vec<ToolHook>,
    pub(crate) keepers: Vec<Keeper>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tape: Option<Arc<dyn Tape>>,
    /// Whose it is, where it is that of the run around.
    pub(crate) tape_of: Option<Arc<str>>,
    pub(crate) talk: Option<Talk>,
    pub(crate) strict: bool,
    pub(crate) record_content: bool,
    /// Where traces can be looked at, with their ids left open.
    pub(crate) traces_url: Option<Arc<str>>,
    /// How many runs of their own are around this one.
    pub(crate) nested: u32,
    /// The deadline within which this run is.
    pub(crate) watch: Option<Arc<Stopwatch>>,
    pub(crate) tool_timeout: Duration,
    pub(crate) max_output_bytes: usize,
    pub(crate) max_argument_bytes: usize,
    pub(crate) executor: Executor,
}

/// How many runs of their own may be within each other: their budgets begin anew, so this is what
/// ends agents that call each other so.
const DEEPEST: u32 = 15;

impl Settings {
    /// What a run within another one takes over from it, where nothing else was said.
    pub(crate) fn inherit(&mut self, around: &RunContext) -> Result<(), Error> {
        let outer = &around.root.settings;
        self.nested = outer.nested + 1;
        if self.nested > DEEPEST {
            let message = format!("runs of their own are nested {DEEPEST} deep");
            return Err(Error::new(ErrorKind::Budget, message));
        }
        self.watch = around.watch().cloned();
        self.tighten(outer);
        self.executor.inherit(&outer.executor);
        self.model = self.model.take().or_else(|| around.model().cloned());
        if self.tape.is_none()
            && let Some(tape) = &outer.tape
        {
            self.clock = tape.clock();
            self.tape = Some(tape.clone());
            self.tape_of = Some(around.root.run_id.clone());
        }
        for (name, secret) in &outer.secrets {
            self.secrets
                .entry(name.clone())
                .or_insert_with(|| secret.clone());
        }
        if self.keeper_of_secrets.is_none() {
            self.keeper_of_secrets = outer.keeper_of_secrets.clone();
        }
        self.masker = outer.masker.clone();
        self.traces_url = self.traces_url.take().or_else(|| outer.traces_url.clone());
        // A part of the work is done for the same tenant, unless another is named.
        if self.scope == Scope::default() {
            self.scope = outer.scope.clone();
        }
        Ok(())
    }

    /// A run within a run may be held to more than the one around it, never to less.
    fn tighten(&mut self, outer: &Settings) {
        self.strict |= outer.strict;
        self.tool_timeout = self.tool_timeout.min(outer.tool_timeout);
        self.max_output_bytes = self.max_output_bytes.min(outer.max_output_bytes);
        self.max_argument_bytes = self.max_argument_bytes.min(outer.max_argument_bytes);
    }

    /// The model to ask where `own` is the agent's or its caller's: that, or what a tape has in its place.
    pub(crate) fn model_for(&self, own: Option<Arc<dyn Model>>) -> Option<Arc<dyn Model>> {
        match &self.tape {
            Some(tape) => tape.model(own),
            None => own,
        }
    }

    /// What was given to the run is masked from its beginning.
    pub(crate) fn hide(&self) -> Result<(), Error> {
        for (name, secret) in &self.secrets {
            let learnt = self.masker.learn(name, secret);
            learnt.map_err(|error| Error::new(ErrorKind::Build, error.to_string()))?;
        }
        Ok(())
    }
}

impl Settings {
    /// What tells apart those for whom a tool may give different results with the secrets that it is
    /// given; empty in a run without secrets, which shares what is cached with all of its tenant.
    fn secret_scope(&self) -> Vec<u8> {
        if self.secrets.is_empty() && self.keeper_of_secrets.is_none() {
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
            add(secret.expose_secret());
        }
        digest.finalize().to_vec()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            model: None,
            scope: Scope::default(),
            secrets: BTreeMap::new(),
            keeper_of_secrets: None,
            masker: Masker::new(),
            cancel: Vec::new(),
            budget: None,
            approver: None,
            subscribers: Vec::new(),
            tool_hooks: Vec::new(),
            keepers: Vec::new(),
            clock: Arc::new(SystemClock),
            tape: None,
            tape_of: None,
            talk: None,
            strict: false,
            record_content: false,
            traces_url: None,
            nested: 0,
            watch: None,
            tool_timeout: Duration::from_secs(300),
            max_output_bytes: 2_000_000,
            max_argument_bytes: 1_000_000,
            executor: Executor::default(),
        }
    }
}

/// What all parts of one run share.
pub(crate) struct Root {
    pub(crate) settings: Settings,
    pub(crate) run_id: Arc<str>,
    pub(crate) node: Arc<Node>,
    pub(crate) notify: Notify,
    /// Triggered when the run has ended: what was spawned in it and is left ends as well.
    pub(crate) over: CancellationToken,
    usage: Mutex<Usage>,
    stop: Mutex<Option<Stop>>,
    escalations: Mutex<Vec<EscalationReceipt>>,
    /// What was changed in the answer of the agent that was run.
    repairs: Mutex<Repairs>,
    /// The agent that was run and its input, for snapshots.
    origin: Option<(String, Json)>,
    pub(crate) watched: Watched,
    secret_scope: OnceLock<Vec<u8>>,
    /// Where in which trace the run was before it was put down.
    pub(crate) trace_before: Option<String>,
    is_resumed: bool,
    /// When the run began, before it was ever put down.
    began: OnceLock<Timestamp>,
}

impl Root {
    pub(crate) fn new(
        settings: Settings,
        node: Arc<Node>,
        past: Option<Snapshot>,
        origin: Option<(String, Json)>,
    ) -> Result<Arc<Root>, Error> {
        let is_resumed = past.is_some();
        let (run_id, usage, escalations, steps, trace_before, began) = match past {
            Some(past) => {
                settings.clock.resumed(&past.run_id);
                let Snapshot {
                    run_id,
                    usage,
                    escalations,
                    steps,
                    trace,
                    began,
                    ..
                } = past;
                (run_id, usage, escalations, steps, trace, began)
            }
            None => (
                match &settings.tape_of {
                    Some(outer) => id_within(outer, &node.path()),
                    None => settings.clock.run_id(),
                },
                Usage::default(),
                Vec::new(),
                Vec::new(),
                None,
                None,
            ),
        };
        if let (Some(tape), Some((agent, input))) = (&settings.tape, &origin) {
            tape.begins(&Begun {
                run_id: &run_id,
                agent,
                input,
                is_within: settings.tape_of.is_some(),
                masker: &settings.masker,
            })?;
        }
        Ok(Arc::new(Root {
            settings,
            run_id: run_id.into(),
            node,
            notify: Notify::new(),
            over: CancellationToken::new(),
            usage: Mutex::new(usage),
            stop: Mutex::default(),
            escalations: Mutex::new(escalations),
            repairs: Mutex::default(),
            origin,
            watched: Watched::of(steps),
            secret_scope: OnceLock::new(),
            trace_before,
            is_resumed,
            began: began.map_or_else(OnceLock::new, OnceLock::from),
        }))
    }

    /// Reads the clock as the run begins, or goes on; gives that, and when it began.
    pub(crate) fn begins(&self) -> (Timestamp, Timestamp) {
        let edge = if self.is_resumed { "resumed" } else { "start" };
        let now = format_args!("{}/{edge}", self.node.path());
        let now = self.settings.clock.now(now);
        (now, *self.began.get_or_init(|| now))
    }

    /// Tells the subscribers; what happened is only put together if there is one.
    pub(crate) fn emit(&self, node: &Node, kind: impl FnOnce() -> EventKind) {
        self.emit_at(node, || node.path().to_string(), kind);
    }

    /// The same, of something that happened at a place below the node.
    pub(crate) fn emit_at(
        &self,
        node: &Node,
        place: impl FnOnce() -> String,
        kind: impl FnOnce() -> EventKind,
    ) {
        let Settings {
            subscribers,
            masker,
            ..
        } = &self.settings;
        if subscribers.is_empty() {
            return;
        }
        let event = Event {
            agent: node.agent(),
            depth: node.depth(),
            place: place(),
            kind: match masker.is_empty() {
                true => kind(),
                false => masker.event(kind()),
            },
        };
        for subscriber in subscribers {
            told("on_event", masker, || subscriber(&event));
        }
    }

    /// Hands a snapshot to whoever keeps them. A run that is being ended has nothing to go on with.
    pub(crate) fn checkpoint(&self) {
        if self.stopped().is_some() {
            return;
        }
        let keepers = &self.settings.keepers;
        if let (Some((last, others)), Some((agent, input))) = (keepers.split_last(), &self.origin) {
            let snapshot = self.settings.masker.data(Snapshot {
                version: Snapshot::VERSION,
                agent: agent.clone(),
                run_id: self.run_id.to_string(),
                input: input.clone(),
                terms: Terms::of(&self.settings),
                trace: self.trace_place(),
                began: self.began.get().copied(),
                usage: self.usage(),
                escalations: self.escalations(),
                steps: self.watched.steps(),
                root: self.node.save(),
            });
            let masker = &self.settings.masker;
            for keeper in others {
                told("on_checkpoint", masker, || keeper(snapshot.clone()));
            }
            told("on_checkpoint", masker, || last(snapshot));
        }
    }

    /// [`Settings::secret_scope`], found out once.
    pub(crate) fn secret_scope(&self) -> &[u8] {
        let scope = || self.settings.secret_scope();
        self.secret_scope.get_or_init(scope)
    }

    /// Keeps what became of an escalation.
    pub(crate) fn escalated(&self, receipt: EscalationReceipt) {
        lock(&self.escalations).push(receipt);
    }

    pub(crate) fn escalations(&self) -> Vec<EscalationReceipt> {
        lock(&self.escalations).clone()
    }

    /// The agent at this node had its answer changed so.
    pub(crate) fn answer_repaired(&self, node: &Arc<Node>, repairs: &Repairs) {
        if Arc::ptr_eq(node, &self.node) {
            *lock(&self.repairs) = repairs.clone();
        }
    }

    pub(crate) fn repairs(&self) -> Repairs {
        lock(&self.repairs).clone()
    }

    pub(crate) fn charge(&self, usage: Usage) {
        *lock(&self.usage) += usage;
    }

    pub(crate) fn usage(&self) -> Usage {
        *lock(&self.usage)
    }

    pub(crate) fn request_stop(&self, stop: Stop) {
        lock(&self.stop).get_or_insert(stop);
        self.notify.notify_one();
    }

    pub(crate) fn stopped(&self) -> Option<Stop> {
        lock(&self.stop).clone()
    }
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Root")
            .field("run_id", &self.run_id)
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
