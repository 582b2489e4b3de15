use super::{
    Approver, Budget, Clock, Cx, Event, EventKind, Limit, Node, Snapshot, Stopped, Stopwatch,
    SystemClock, Talk, Tape, ToolEnvelope,
};
use crate::{
    Error, ErrorKind, Json, Severity,
    escalation::EscalationReceipt,
    model::{Model, Usage},
    observe::{self, Step, Trace},
    reader::Repairs,
    secret::{Masker, Secrets},
    tool::Scope,
};
use secrecy::SecretString;
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::Span;

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
    pub(crate) cancel: CancellationToken,
    pub(crate) budget: Option<Budget>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) subscriber: Option<Subscriber>,
    pub(crate) tool_hook: Option<ToolHook>,
    pub(crate) keeper: Option<Keeper>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) tape: Option<Arc<dyn Tape>>,
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
}

/// How many runs of their own may be within each other: their budgets begin anew, so this is what
/// ends agents that call each other so.
const DEEPEST: u32 = 15;

impl Settings {
    /// What a run within another one takes over from it, where nothing else was said.
    pub(crate) fn inherit(&mut self, around: &Cx) -> Result<(), Error> {
        let outer = &around.root.settings;
        self.nested = outer.nested + 1;
        if self.nested > DEEPEST {
            let message = format!("runs of their own are nested {DEEPEST} deep");
            return Err(Error::new(ErrorKind::Budget, message));
        }
        self.watch = around.watch().cloned();
        self.model = self.model.take().or_else(|| around.model().cloned());
        if self.tape.is_none()
            && let Some(tape) = &outer.tape
        {
            self.clock = tape.clock();
            self.tape = Some(tape.clone());
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

    /// What was given to the run is masked from its beginning.
    pub(crate) fn hide(&self) -> Result<(), Error> {
        for (name, secret) in &self.secrets {
            let learnt = self.masker.learn(name, secret);
            learnt.map_err(|error| Error::new(ErrorKind::Build, error.to_string()))?;
        }
        Ok(())
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
            cancel: CancellationToken::new(),
            budget: None,
            approver: None,
            subscriber: None,
            tool_hook: None,
            keeper: None,
            clock: Arc::new(SystemClock),
            tape: None,
            talk: None,
            strict: false,
            record_content: false,
            traces_url: None,
            nested: 0,
            watch: None,
            tool_timeout: Duration::from_secs(300),
            max_output_bytes: 2_000_000,
            max_argument_bytes: 1_000_000,
        }
    }
}

/// What all parts of one run share.
pub(crate) struct Root {
    pub(crate) settings: Settings,
    pub(crate) run_id: Arc<str>,
    pub(crate) node: Arc<Node>,
    pub(crate) notify: Notify,
    usage: Mutex<Usage>,
    stop: Mutex<Option<Stop>>,
    escalations: Mutex<Vec<EscalationReceipt>>,
    /// What was changed in the answer of the agent that was run.
    repairs: Mutex<Repairs>,
    /// The agent that was run and its input, for snapshots.
    origin: Option<(String, Json)>,
    steps: Mutex<Vec<Step>>,
    /// The span of the whole run, and the id of its trace.
    span: OnceLock<(Span, Arc<str>)>,
}

/// Why the whole run ends, now. It is not an error that travels: whoever calls for it never
/// returns, and the root drops everything.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    Budget {
        agent: Arc<str>,
        limit: Limit,
    },
    Cancelled,
    Thrown {
        source: Arc<str>,
        reason: String,
    },
    Escalated {
        source: Arc<str>,
        reason: String,
        severity: Severity,
    },
}

impl Stop {
    pub(crate) fn error(&self) -> Error {
        match self {
            Stop::Budget { agent, limit } => {
                Error::new(ErrorKind::Budget, limit.to_string()).context(format!("agent `{agent}`"))
            }
            Stop::Cancelled => Error::new(ErrorKind::Cancelled, "the run was cancelled"),
            Stop::Thrown { source, reason } => Error::thrown(reason).context(format!("`{source}`")),
            Stop::Escalated {
                source,
                reason,
                severity,
            } => Error::escalated(reason, *severity).context(format!("`{source}`")),
        }
    }

    pub(crate) fn reason(&self) -> Stopped {
        match self {
            Stop::Budget { agent, limit } => Stopped::Budget {
                agent: agent.to_string(),
                limit: *limit,
            },
            Stop::Cancelled => Stopped::Cancelled,
            Stop::Thrown { source, reason } => Stopped::Thrown {
                source: source.to_string(),
                reason: reason.clone(),
            },
            Stop::Escalated {
                source,
                reason,
                severity,
            } => Stopped::Escalated {
                source: source.to_string(),
                reason: reason.clone(),
                severity: *severity,
            },
        }
    }
}

impl Root {
    pub(crate) fn new(
        settings: Settings,
        node: Arc<Node>,
        past: Option<Snapshot>,
        origin: Option<(String, Json)>,
    ) -> Arc<Root> {
        let (run_id, usage, escalations, steps) = match past {
            Some(past) => {
                settings.clock.resumed(&past.run_id);
                (past.run_id, past.usage, past.escalations, past.steps)
            }
            None => (
                settings.clock.run_id(),
                Usage::default(),
                Vec::new(),
                Vec::new(),
            ),
        };
        Arc::new(Root {
            settings,
            run_id: run_id.into(),
            node,
            notify: Notify::new(),
            usage: Mutex::new(usage),
            stop: Mutex::default(),
            escalations: Mutex::new(escalations),
            repairs: Mutex::default(),
            origin,
            steps: Mutex::new(steps),
            span: OnceLock::new(),
        })
    }

    /// The run begins, in this span.
    pub(crate) fn place_in_trace(&self, span: &Span) {
        let id = || observe::trace_id(span, &self.run_id).into();
        self.span.get_or_init(|| (span.clone(), id()));
    }

    /// The span of the whole run.
    pub(crate) fn span(&self) -> Span {
        self.span
            .get()
            .map_or_else(Span::none, |(span, _)| span.clone())
    }

    pub(crate) fn trace_id(&self) -> &str {
        self.span.get().map_or("", |(_, id)| id)
    }

    /// Where the trace can be looked at.
    pub(crate) fn traces_url(&self) -> Option<String> {
        let template = self.settings.traces_url.as_deref()?;
        let url = template.replace("{trace_id}", self.trace_id());
        Some(url.replace("{run_id}", &self.run_id))
    }

    /// Keeps a step that has ended.
    pub(crate) fn step(&self, step: Step) {
        lock(&self.steps).push(step);
    }

    pub(crate) fn trace(&self) -> Trace {
        Trace {
            id: self.trace_id().to_owned(),
            steps: lock(&self.steps).clone(),
        }
    }

    /// Tells the subscriber; what happened is only put together if there is one.
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
            subscriber, masker, ..
        } = &self.settings;
        if let Some(subscriber) = subscriber {
            subscriber(&Event {
                agent: node.agent(),
                depth: node.depth(),
                place: place(),
                kind: match masker.is_empty() {
                    true => kind(),
                    false => masker.event(kind()),
                },
            });
        }
    }

    /// Hands a snapshot to whoever keeps them.
    pub(crate) fn checkpoint(&self) {
        if let (Some(keeper), Some((agent, input))) = (&self.settings.keeper, &self.origin) {
            keeper(self.settings.masker.data(Snapshot {
                version: Snapshot::VERSION,
                agent: agent.clone(),
                run_id: self.run_id.to_string(),
                input: input.clone(),
                usage: self.usage(),
                escalations: self.escalations(),
                steps: lock(&self.steps).clone(),
                root: self.node.save(),
            }));
        }
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
