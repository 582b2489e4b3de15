//! The audit trail of one run, checked event by event, and what it tells of the rows of other tables.

use crate::{
    RuntimeError,
    data::RunData,
    ids::{approval_of, execution_of},
    wording::flaws::{
        AGAIN, EDITED, INSERTED, NOT_IN_JOURNAL, NOT_IN_TRAIL, OUT_OF_ORDER, OVER, REMOVED,
    },
};
use agents_core::{
    journal::{CallStep, Entry, Followed},
    tool::Effects,
};
use agents_store::{
    ALL_TENANTS, Approval, ApprovalFilter, ApprovalStatus, AuditEvent, AuditFilter, AuditKey,
    AuditKind, End, Execution, PLATFORM, RowDigest, Run, RunStatus, Store, StoredMode,
};
use std::collections::{BTreeMap, BTreeSet};

/// Flaw that a check has found: the table, the id of the row, and what was done to it.
pub(crate) type Found = (&'static str, String, &'static str);

pub(crate) const EVENTS: &str = "agent_audit_events";
pub(crate) const RUNS: &str = "agent_runs";
pub(crate) const COMMITS: &str = "agent_run_commits";
/// Maximum number of rows that are read at once.
const PAGE: u32 = 500;
const APPROVALS: &str = "agent_approvals";
const EXECUTIONS: &str = "agent_tool_executions";
const MODES: &str = "agent_modes";

/// Returns the events of a trail after the one of this number, the oldest first.
pub(crate) async fn events_after(
    store: &dyn Store,
    trail: &str,
    after: u64,
) -> Result<Vec<AuditEvent>, RuntimeError> {
    let mut filter = AuditFilter {
        run: Some(trail.to_owned()),
        after,
        limit: PAGE,
        ..AuditFilter::default()
    };
    let mut events = Vec::new();
    loop {
        let page = store.audit(&filter).await?;
        let is_last = page.len() < PAGE as usize;
        events.extend(page);
        match events.last() {
            Some(last) if !is_last => filter.after = last.number,
            _ => return Ok(events),
        }
    }
}

/// Returns all requests of a run for approval, the oldest first.
pub(crate) async fn requests_of(
    store: &dyn Store,
    run: &str,
) -> Result<Vec<Approval>, RuntimeError> {
    let mut filter = ApprovalFilter {
        run: Some(run.to_owned()),
        limit: PAGE,
        ..ApprovalFilter::default()
    };
    let mut requests: Vec<Approval> = Vec::new();
    loop {
        let page = store.approvals(&filter).await?;
        let is_last = page.len() < PAGE as usize;
        requests.extend(page);
        match requests.last() {
            Some(last) if !is_last => filter.after = Some(last.id.clone()),
            _ => return Ok(requests),
        }
    }
}

/// Checks that events follow each other and the event of the number `seq`, whose digest is `before`. `tenant` is the
/// tenant of all events; `None` if they are about several. Returns the first flaw.
pub(crate) fn chain(
    key: &AuditKey,
    (seq, before): (u64, &[u8]),
    tenant: Option<&str>,
    events: &[AuditEvent],
) -> Option<Found> {
    let mut before = before;
    for (event, seq) in events.iter().zip(seq + 1..) {
        let row = |what| Some((EVENTS, event.seq.to_string(), what));
        if event.seq > seq {
            return match events.iter().any(|other| other.seq == seq) {
                true => row(OUT_OF_ORDER),
                false => Some((EVENTS, seq.to_string(), REMOVED)),
            };
        }
        if event.seq < seq {
            return row(OUT_OF_ORDER);
        }
        let is_of_tenant = tenant.is_none_or(|own| own == event.tenant_id);
        if !key.is_digest_of(before, event) || !is_of_tenant {
            return row(EDITED);
        }
        before = &event.digest;
    }
    None
}

/// Digests that the events of a trail tell of rows: for each row, by its id, the one in the last event about it.
#[derive(Default)]
pub(crate) struct Told {
    /// Is `true` if the trail begins with the start of the run, as each trail does that was kept from the beginning.
    has_start: bool,
    started: Option<Vec<u8>>,
    requested: BTreeMap<String, Vec<u8>>,
    decided: BTreeMap<String, (AuditKind, Vec<u8>)>,
    ran: BTreeMap<String, Vec<u8>>,
    began: BTreeMap<String, Vec<u8>>,
    ended: BTreeMap<String, Vec<u8>>,
    undone: BTreeMap<String, Vec<u8>>,
    settled: BTreeMap<String, Vec<u8>>,
    cancelled_by: Option<String>,
    /// Word for the end of the run; `None` if the run is not over.
    finished: Option<String>,
    is_erased: bool,
    /// Models with which people have released the run.
    models: BTreeSet<String>,
    /// Digests of the modes that are set, by their tenants; `None` for a mode that was removed.
    modes: BTreeMap<String, Option<Vec<u8>>>,
    /// First event that cannot follow those before it.
    found: Option<Found>,
}

impl Told {
    pub(crate) fn of<'a>(events: impl IntoIterator<Item = &'a AuditEvent>) -> Self {
        let mut told = Told::default();
        for event in events {
            told.on(event);
        }
        told
    }

    pub(crate) fn on(&mut self, event: &AuditEvent) {
        let subject = event.subject.clone().unwrap_or_default();
        let digest = event.row_digest.clone();
        match event.kind {
            AuditKind::Started => {
                self.has_start |= event.seq == 1;
                self.started = digest;
            }
            AuditKind::Cancelled if self.cancelled_by.is_none() => {
                self.cancelled_by.clone_from(&event.actor);
            }
            AuditKind::Finished => self.finished = Some(subject),
            AuditKind::Erased => self.is_erased = true,
            AuditKind::Released => self.models.extend(event.subject.clone()),
            AuditKind::Mode => {
                self.modes.insert(event.tenant_id.clone(), digest);
            }
            kind => {
                if let Some(digest) = digest {
                    self.on_row(kind, subject, digest);
                }
            }
        }
    }

    fn on_row(&mut self, kind: AuditKind, id: String, digest: Vec<u8>) {
        use AuditKind as K;
        let is_over = self.ran.contains_key(&id) || self.ended.contains_key(&id);
        let (rows, table, comes_again) = match kind {
            K::Requested => (&mut self.requested, APPROVALS, false),
            K::Approved | K::Denied | K::RevisionRequested | K::Expired | K::Withdrawn => {
                let before = self.decided.insert(id.clone(), (kind, digest));
                // An approval that nobody uses expires, or is withdrawn when the run ends.
                let lapses = matches!(kind, K::Expired | K::Withdrawn);
                let may_follow = |(before, _): &(K, _)| *before == K::Approved && lapses;
                if before.is_some_and(|before| !may_follow(&before)) {
                    self.found.get_or_insert((APPROVALS, id, AGAIN));
                }
                return;
            }
            K::Ran => (&mut self.ran, EXECUTIONS, is_over),
            K::Began => (&mut self.began, EXECUTIONS, is_over),
            K::Ended | K::InDoubt => (&mut self.ended, EXECUTIONS, is_over),
            K::Undone => (&mut self.undone, EXECUTIONS, false),
            K::Settled => (&mut self.settled, EXECUTIONS, false),
            _ => return,
        };
        if comes_again {
            self.found.get_or_insert((table, id.clone(), AGAIN));
        }
        rows.insert(id, digest);
    }

    pub(crate) fn has_start(&self) -> bool {
        self.has_start
    }

    pub(crate) fn is_erased(&self) -> bool {
        self.is_erased
    }

    /// Returns what was done to the row of a run; `None` if it is as its trail says.
    pub(crate) fn run(&self, key: &AuditKey, row: &Run) -> Option<Found> {
        let started = self.started.as_deref();
        let is_over = row.status == RunStatus::Done;
        let is_as_told = started.is_none_or(|digest| key.of_run(row).is(digest))
            && row.cancelled_by == self.cancelled_by
            && is_over == self.finished.is_some()
            && row.end.map(End::as_str) == self.finished.as_deref();
        let edited = (!is_as_told).then(|| (RUNS, row.id.clone(), EDITED));
        self.found.clone().or(edited)
    }

    /// Returns the first flaw of the rows of the run's requests for approval, which are all of them.
    pub(crate) fn requests(&self, key: &AuditKey, rows: &[Approval]) -> Option<Found> {
        for row in rows {
            if let Some(what) = self.request(key, row) {
                return Some((APPROVALS, row.id.clone(), what));
            }
        }
        let there: BTreeSet<_> = rows.iter().map(|row| &row.id).collect();
        let gone = self.requested.keys().find(|id| !there.contains(id));
        gone.map(|id| (APPROVALS, id.clone(), REMOVED))
    }

    /// Returns what was done to the row of a request; `None` if it is as the trail says.
    pub(crate) fn request(&self, key: &AuditKey, row: &Approval) -> Option<&'static str> {
        let is_open = row.status == ApprovalStatus::Pending;
        match (self.requested.get(&row.id), self.decided.get(&row.id)) {
            (None, _) => Some(INSERTED),
            (Some(asked), _) if !key.of_request(row).is(asked) => Some(EDITED),
            (_, None) => (!is_open).then_some(EDITED),
            (_, Some((_, decided))) => (!key.of_decision(row).is(decided)).then_some(EDITED),
        }
    }

    /// Returns the first flaw of the rows of the run's executions, which are all of them.
    pub(crate) fn executions(&self, key: &AuditKey, rows: &[Execution]) -> Option<Found> {
        for row in rows {
            if let Some(what) = self.execution(key, row) {
                return Some((EXECUTIONS, row.id.clone(), what));
            }
        }
        let there: BTreeSet<_> = rows.iter().map(|row| &row.id).collect();
        let mut told = self.ran.keys().chain(self.began.keys());
        let gone = told.find(|id| !there.contains(id));
        gone.map(|id| (EXECUTIONS, id.clone(), REMOVED))
    }

    /// Returns what was done to the row of an execution; `None` if it is as the trail says.
    fn execution(&self, key: &AuditKey, row: &Execution) -> Option<&'static str> {
        let is = |digest: Option<&Vec<u8>>, own: RowDigest, says_something: bool| match digest {
            None => !says_something,
            Some(digest) => own.is(digest),
        };
        let has_ended = row.output.is_some()
            || row.error.is_some()
            || row.effect_unknown
            || row.duration_ms.is_some();
        let (began, ended) = match (self.ran.get(&row.id), self.began.get(&row.id)) {
            (Some(digest), _) => (key.of_execution(row).is(digest), true),
            (None, Some(digest)) => (
                key.of_begin(row).is(digest),
                is(self.ended.get(&row.id), key.of_end(row), has_ended),
            ),
            (None, None) => return Some(INSERTED),
        };
        let undone = is(self.undone.get(&row.id), key.of_undo(row), row.rolled_back);
        let settled = is(
            self.settled.get(&row.id),
            key.of_settled(row),
            row.settled.is_some(),
        );
        (!(began && ended && undone && settled)).then_some(EDITED)
    }

    /// Returns the first flaw of the rows of modes, which are all of them.
    pub(crate) fn modes(&self, key: &AuditKey, rows: &[StoredMode]) -> Option<Found> {
        let tenant_of = |row: &StoredMode| row.tenant.clone().unwrap_or_else(|| ALL_TENANTS.into());
        for row in rows {
            let tenant = tenant_of(row);
            match self.modes.get(&tenant) {
                Some(Some(digest)) if *digest == key.of_mode(row) => {}
                Some(Some(_)) => return Some((MODES, tenant, EDITED)),
                Some(None) | None => return Some((MODES, tenant, INSERTED)),
            }
        }
        let there: BTreeSet<_> = rows.iter().map(tenant_of).collect();
        let mut set = self.modes.iter().filter(|(_, digest)| digest.is_some());
        let gone = set.find(|(tenant, _)| !there.contains(*tenant));
        gone.map(|(tenant, _)| (MODES, tenant.clone(), REMOVED))
    }

    /// Compares the trail with the journal of the run. Returns the first request or execution that only one of them
    /// tells of.
    pub(crate) fn journal(&self, recorded: &Recorded) -> Option<Found> {
        let Recorded {
            asked,
            writes,
            began,
            ended,
            is_finished,
        } = recorded;
        let unknown = |table: &'static str, id: &String| (table, id.clone(), NOT_IN_JOURNAL);
        let untold = |table: &'static str, id: &String| (table, id.clone(), NOT_IN_TRAIL);
        let begun = || self.began.keys().chain(self.ran.keys());
        let over = || self.ended.keys().chain(self.ran.keys());
        let missing = |id: &&String| !self.began.contains_key(*id) && !self.ran.contains_key(*id);
        let unended = |id: &&String| !self.ended.contains_key(*id) && !self.ran.contains_key(*id);
        let of_trail = self.requested.keys().find(|id| !asked.contains(*id));
        let of_trail = of_trail.map(|id| unknown(APPROVALS, id));
        of_trail
            .or_else(|| {
                let id = begun().find(|id| !began.contains(*id))?;
                Some(unknown(EXECUTIONS, id))
            })
            .or_else(|| {
                let id = over().find(|id| !ended.contains(*id))?;
                Some(unknown(EXECUTIONS, id))
            })
            .or_else(|| {
                let id = asked.iter().find(|id| !self.requested.contains_key(*id))?;
                Some(untold(APPROVALS, id))
            })
            .or_else(|| {
                let id = writes.iter().find(missing)?;
                Some(untold(EXECUTIONS, id))
            })
            .or_else(|| {
                let id = ended
                    .iter()
                    .filter(|id| writes.contains(*id))
                    .find(unended)?;
                Some(untold(EXECUTIONS, id))
            })
            .or_else(|| {
                let end = self.finished.as_ref().filter(|_| !is_finished)?;
                (end != "cancelled").then(|| (COMMITS, end.clone(), OVER))
            })
    }
}

/// Requests and executions that the journal of a run records, by the ids of their rows.
#[derive(Default)]
pub(crate) struct Recorded {
    asked: BTreeSet<String>,
    /// Executions of tools that write, and of approved calls.
    writes: BTreeSet<String>,
    began: BTreeSet<String>,
    ended: BTreeSet<String>,
    is_finished: bool,
}

impl Recorded {
    /// Adds what an entry of the journal of this run records.
    pub(crate) fn on(&mut self, run: &str, entry: &Entry, followed: &Followed) {
        self.is_finished |= entry.kind() == "finished" && entry.is_of_the_outermost_run();
        match &followed.step {
            Some(CallStep::Asked(asked)) => {
                self.asked.insert(approval_of(run, &asked.request.id));
            }
            Some(CallStep::Began(began)) => {
                let id = execution_of(run, &began.request, began.attempt);
                if began.effects == Effects::Writes || began.approved {
                    self.writes.insert(id.clone());
                }
                self.began.insert(id);
            }
            Some(CallStep::Ended(ended)) => {
                self.ended
                    .insert(execution_of(run, &ended.request, ended.attempt));
            }
            _ => {}
        }
    }
}

/// Audit trail of a run, or of the platform, that a process reads while it grows. Each event is checked when it is read.
pub(crate) struct CheckedTrail {
    key: AuditKey,
    run: String,
    /// Tenant of all events; `None` if they are about several.
    tenant: Option<String>,
    /// Number of the last event that was read, among all events of the store.
    number: u64,
    seq: u64,
    digest: Vec<u8>,
    told: Told,
    /// Is `true` if the trail has to begin with the start of the run.
    is_due: bool,
    /// Instructions that were read, and that nobody has taken yet.
    instructions: Vec<AuditEvent>,
}

impl CheckedTrail {
    /// Creates the trail of a run, of which nothing is read yet. A run of an earlier version may have no trail: nothing is
    /// checked then.
    pub(crate) fn new(key: AuditKey, run: &Run, data: &RunData) -> Self {
        CheckedTrail {
            is_due: data.audited,
            ..Self::of(key, &run.id, Some(&run.tenant))
        }
    }

    /// Creates the trail of everything that belongs to no run, of which nothing is read yet.
    pub(crate) fn of_platform(key: AuditKey) -> Self {
        Self::of(key, PLATFORM, None)
    }

    fn of(key: AuditKey, run: &str, tenant: Option<&str>) -> Self {
        CheckedTrail {
            key,
            run: run.to_owned(),
            tenant: tenant.map(str::to_owned),
            number: 0,
            seq: 0,
            digest: Vec::new(),
            told: Told::default(),
            is_due: true,
            instructions: Vec::new(),
        }
    }

    /// Reads the events that came since the last time; returns `true` if there are some. An event that nobody with the
    /// audit key has written is an error.
    pub(crate) async fn read(&mut self, store: &dyn Store) -> Result<bool, RuntimeError> {
        let events = events_after(store, &self.run, self.number).await?;
        let before = (self.seq, &*self.digest);
        if let Some(found) = chain(&self.key, before, self.tenant.as_deref(), &events) {
            return Err(self.altered(&found));
        }
        let Some(last) = events.last() else {
            return Ok(false);
        };
        (self.number, self.seq) = (last.number, last.seq);
        self.digest.clone_from(&last.digest);
        for event in events {
            self.told.on(&event);
            if event.kind == AuditKind::Instructed {
                self.instructions.push(event);
            }
        }
        Ok(true)
    }

    /// Returns the models with which people have released the run.
    pub(crate) fn models(&self) -> BTreeSet<String> {
        self.told.models.clone()
    }

    /// Returns the instructions that came since the last time.
    pub(crate) fn take_instructions(&mut self) -> Vec<AuditEvent> {
        std::mem::take(&mut self.instructions)
    }

    /// Returns all requests of the run. Their rows are as the trail says; otherwise there is an error.
    pub(crate) async fn requests(
        &mut self,
        store: &dyn Store,
    ) -> Result<Vec<Approval>, RuntimeError> {
        loop {
            let rows = requests_of(store, &self.run).await?;
            if self.is_missing() {
                return Ok(rows);
            }
            let Some(found) = self.told.requests(&self.key, &rows) else {
                return Ok(rows);
            };
            // The rows may be newer than the trail as it was read.
            if !self.read(store).await? {
                return Err(self.altered(&found));
            }
        }
    }

    /// Returns all modes of the store. Their rows are as the trail of the platform says; otherwise there is an error. They
    /// are not checked for a caller who may not see the whole trail.
    pub(crate) async fn modes(
        &mut self,
        store: &dyn Store,
    ) -> Result<Vec<StoredMode>, RuntimeError> {
        loop {
            let platform = store.platform().await?;
            if platform.trail.is_none() {
                return Ok(platform.modes);
            }
            let has_news = self.read(store).await?;
            match self.told.modes(&self.key, &platform.modes) {
                None => return Ok(platform.modes),
                // The events may be newer than the rows.
                Some(_) if has_news => {}
                Some(found) => return Err(self.altered(&found)),
            }
        }
    }

    /// Checks the row of a run that a worker has claimed, and that its journal and its trail tell of the same requests
    /// and executions.
    pub(crate) async fn check_claim(
        &mut self,
        store: &dyn Store,
        mut run: Run,
        recorded: &Recorded,
    ) -> Result<(), RuntimeError> {
        loop {
            if self.is_missing() {
                return Ok(());
            }
            let found = match self.told.has_start {
                true => self.told.run(&self.key, &run),
                false => Some((EVENTS, "1".to_owned(), REMOVED)),
            };
            let Some(found) = found.or_else(|| self.told.journal(recorded)) else {
                return Ok(());
            };
            // Somebody may have cancelled the run since it was claimed.
            let has_news = self.read(store).await?;
            let now = store.run(&self.run).await?;
            match now.filter(|now| has_news || now.cancelled_by != run.cancelled_by) {
                Some(now) => run = now,
                None => return Err(self.altered(&found)),
            }
        }
    }

    /// Returns `true` if there is no trail, and need not be one.
    fn is_missing(&self) -> bool {
        !self.is_due && !self.told.has_start
    }

    fn altered(&self, found: &Found) -> RuntimeError {
        crate::wording::row_altered(&self.run, found)
    }
}
