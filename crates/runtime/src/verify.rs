//! Checks of the audit trail.

use crate::{
    Head, RuntimeError,
    keys::hex,
    wording::flaws::{EDITED, INSERTED, OUT_OF_ORDER, REMOVED, REMOVED_LATER, REWRITTEN},
};
use agents_store::{
    ALL_TENANTS, ApprovalFilter, ApprovalStatus, AuditEvent, AuditFilter, AuditKey, AuditKind,
    Execution, ExecutionFilter, PLATFORM, RowDigest, Run, RunFilter, Store, StoredMode,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

/// Result of a check of the audit trail. Its `Display` text is a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// Number of runs whose audit trails were checked.
    pub runs: u64,
    /// Number of events that the check has read.
    pub events: u64,
    /// Number of runs whose start is not in the trail: they are from before there was one, or all of their events were
    /// removed.
    pub without_trail: u64,
    /// Number of runs whose contents were erased. Their events were checked; their own rows and those of their requests
    /// and executions can no longer be checked.
    pub erased: u64,
    /// Is `true` if the trail was compared with heads from outside the store. Otherwise it is not known whether the last
    /// events of a run, or whole runs, were removed.
    pub is_anchored: bool,
    /// First flaw of each run, and of the platform, if there is one; empty if the trail is intact.
    pub flaws: Vec<Flaw>,
}

/// Flaw of the audit trail: the row that was changed, of the trail itself or of a table that the trail tells of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Flaw {
    /// Id of the run; `platform` for what belongs to no run.
    pub run_id: String,
    /// Name of the table that was changed.
    pub table: String,
    /// Id of the row; for an event its number in the trail, and for a mode its tenant.
    pub row: String,
    /// Description of what was done to the table's row.
    pub what: String,
}

impl Verdict {
    /// Returns `true` if the check of the trail has found no flaw.
    pub fn is_intact(&self) -> bool {
        self.flaws.is_empty()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { runs, events, .. } = self;
        match self.is_intact() {
            true => write!(f, "intact: {events} events of {runs} runs")?,
            false => write!(
                f,
                "changed: {} of {runs} runs ({events} events)",
                self.flaws.len()
            )?,
        }
        for flaw in &self.flaws {
            write!(f, "\n{flaw}")?;
        }
        if self.without_trail > 0 {
            let without = self.without_trail;
            write!(
                f,
                "\n{without} runs have no start in the trail: they are from before there was one, or all of their events were removed"
            )?;
        }
        if self.erased > 0 {
            let erased = self.erased;
            write!(
                f,
                "\n{erased} runs were erased: their events are checked, the rows of their calls are not"
            )?;
        }
        if !self.is_anchored {
            f.write_str(
                "\nnot compared with heads from outside the store: last events, and whole runs, that were removed are not noticed",
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Flaw {
            run_id,
            table,
            row,
            what,
        } = self;
        write!(f, "run {run_id}: row {row} of {table} {what}")
    }
}

/// Maximum number of times that a run is checked because it is written at the same time.
const TRIES: u32 = 10;
const EVENTS: &str = "agent_audit_events";
const RUNS: &str = "agent_runs";
const APPROVALS: &str = "agent_approvals";
const EXECUTIONS: &str = "agent_tool_executions";
const MODES: &str = "agent_modes";

/// Audit trail that is checked: that of a run, or that of everything that belongs to no run.
struct Trail<'a> {
    id: &'a str,
    /// Tenant of all events; `None` if they are about several.
    tenant: Option<&'a str>,
    /// Number of the last event, as the stored end of the trail says.
    seq: u64,
    /// Digest of the last event, as the stored end of the trail says.
    digest: &'a [u8],
    /// Name of the table that has the stored end of the trail.
    table: &'static str,
}

/// First flaw that the check of an audit trail has found: the table, the id of the row, and what was done to it.
type Found = (&'static str, String, &'static str);

/// Check of the audit trail of a whole store, while it goes on.
pub(crate) struct Verify<'a> {
    store: &'a Arc<dyn Store>,
    key: AuditKey,
    /// Heads that were kept outside the store, by the id of the run.
    anchors: BTreeMap<&'a str, &'a Head>,
    verdict: Verdict,
}

impl<'a> Verify<'a> {
    pub(crate) fn new(store: &'a Arc<dyn Store>, key: AuditKey, heads: Option<&'a [Head]>) -> Self {
        let anchors = heads.unwrap_or_default().iter();
        Verify {
            store,
            key,
            anchors: anchors.map(|head| (&*head.run_id, head)).collect(),
            verdict: Verdict {
                is_anchored: heads.is_some(),
                ..Verdict::default()
            },
        }
    }

    pub(crate) async fn run(mut self) -> Result<Verdict, RuntimeError> {
        let mut filter = RunFilter::default();
        loop {
            let page = self.store.runs(&filter).await?;
            let Some(last) = page.last() else { break };
            filter.before = Some(last.id.clone());
            for run in page {
                self.check_run(run).await?;
            }
        }
        self.check_platform().await?;
        for head in std::mem::take(&mut self.anchors).into_values() {
            self.flaw(&head.run_id, (RUNS, head.run_id.clone(), REMOVED));
        }
        Ok(self.verdict)
    }

    fn flaw(&mut self, run: &str, (table, row, what): Found) {
        self.verdict.flaws.push(Flaw {
            run_id: run.to_owned(),
            table: table.to_owned(),
            row,
            what: what.to_owned(),
        });
    }

    /// Checks the trail and the rows of a run, and does so again if the run is written at the same time.
    async fn check_run(&mut self, mut run: Run) -> Result<(), RuntimeError> {
        let id = &run.id.clone();
        self.verdict.runs += 1;
        for left in (0..TRIES).rev() {
            let events = self.events(id).await?;
            let found = self.check(&run, &events).await?;
            if found.is_some() && left > 0 {
                let now = self.store.run(id).await?;
                if let Some(now) = now.filter(|now| now.audit_seq != run.audit_seq) {
                    run = now;
                    continue;
                }
            }
            self.verdict.events += events.len() as u64;
            self.verdict.without_trail += u64::from(!has_begin(&events));
            self.verdict.erased += u64::from(is_erased(&events));
            self.anchors.remove(&**id);
            if let Some(found) = found {
                self.flaw(id, found);
            }
            break;
        }
        Ok(())
    }

    /// Checks the trail of everything that belongs to no run, if the caller may see all of it.
    async fn check_platform(&mut self) -> Result<(), RuntimeError> {
        for left in (0..TRIES).rev() {
            let platform = self.store.platform().await?;
            let Some(end) = platform.trail else {
                self.anchors.remove(PLATFORM);
                return Ok(());
            };
            let events = self.events(PLATFORM).await?;
            let trail = Trail {
                id: PLATFORM,
                tenant: None,
                seq: end.seq,
                digest: &end.digest,
                table: "agent_platform",
            };
            let found = self.chain(&trail, &events);
            let found = found.or_else(|| self.modes(&platform.modes, &events));
            if found.is_some() && left > 0 {
                let now = self.store.platform().await?.trail;
                if now.is_some_and(|now| now.seq != end.seq) {
                    continue;
                }
            }
            self.verdict.events += events.len() as u64;
            self.anchors.remove(PLATFORM);
            if let Some(found) = found {
                self.flaw(PLATFORM, found);
            }
            break;
        }
        Ok(())
    }

    /// Checks that the row of each mode is as the last event about its tenant says; returns the first flaw.
    fn modes(&self, modes: &[StoredMode], events: &[AuditEvent]) -> Option<Found> {
        let mut told: BTreeMap<&str, Option<&[u8]>> = BTreeMap::new();
        for event in events.iter().filter(|event| event.kind == AuditKind::Mode) {
            told.insert(&event.tenant_id, event.row_digest.as_deref());
        }
        for mode in modes {
            let tenant = mode.tenant.as_deref().unwrap_or(ALL_TENANTS);
            let row = |what| Some((MODES, tenant.to_owned(), what));
            match told.remove(tenant) {
                Some(Some(digest)) if *digest == self.key.of_mode(mode) => {}
                Some(Some(_)) => return row(EDITED),
                Some(None) | None => return row(INSERTED),
            }
        }
        let gone = told.into_iter().find(|(_, digest)| digest.is_some());
        gone.map(|(tenant, _)| (MODES, tenant.to_owned(), REMOVED))
    }

    async fn events(&self, run: &str) -> Result<Vec<AuditEvent>, RuntimeError> {
        let mut filter = AuditFilter {
            run: Some(run.to_owned()),
            ..AuditFilter::default()
        };
        let mut events = Vec::new();
        loop {
            let page = self.store.audit(&filter).await?;
            let Some(last) = page.last() else {
                return Ok(events);
            };
            filter.after = last.number;
            events.extend(page);
        }
    }

    /// Returns the first flaw of a run's trail and rows; `None` if there is none.
    async fn check(&self, run: &Run, events: &[AuditEvent]) -> Result<Option<Found>, RuntimeError> {
        let trail = Trail {
            id: &run.id,
            tenant: Some(&run.tenant),
            seq: run.audit_seq,
            digest: &run.audit_digest,
            table: RUNS,
        };
        if let Some(found) = self.chain(&trail, events) {
            return Ok(Some(found));
        }
        if !has_begin(events) || is_erased(events) {
            return Ok(None);
        }
        let told = Told::of(events);
        if told
            .started
            .is_some_and(|digest| !self.key.of_run(run).is(digest))
        {
            return Ok(Some((RUNS, run.id.clone(), EDITED)));
        }
        match self.requests(run, &told).await? {
            None => self.executions(run, &told).await,
            found => Ok(found),
        }
    }

    /// Checks the chain of events of a trail, its stored end, and the head from outside; returns the first flaw.
    fn chain(&self, trail: &Trail<'_>, events: &[AuditEvent]) -> Option<Found> {
        let mut before: &[u8] = &[];
        for (event, seq) in events.iter().zip(1..) {
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
            let is_of_tenant = trail.tenant.is_none_or(|own| own == event.tenant_id);
            if !self.key.is_digest_of(before, event) || !is_of_tenant {
                return row(EDITED);
            }
            before = &event.digest;
        }
        let last = events.len() as u64;
        let behind = (EVENTS, (last + 1).to_string());
        if last < trail.seq {
            return Some((behind.0, behind.1, REMOVED));
        }
        // Events that were added since the run was read have digests of their own.
        let head = match trail.seq {
            0 => &[][..],
            seq => &events[usize::try_from(seq).unwrap_or(1) - 1].digest,
        };
        if head != trail.digest {
            return Some((trail.table, trail.id.to_owned(), EDITED));
        }
        let anchor = self.anchors.get(trail.id)?;
        if anchor.events == 0 {
            return None;
        }
        let at = usize::try_from(anchor.events).unwrap_or(usize::MAX) - 1;
        match events.get(at) {
            None => Some((behind.0, behind.1, REMOVED_LATER)),
            Some(event) if hex(&event.digest) == anchor.digest => None,
            Some(event) => {
                let row = event.seq.to_string();
                Some((EVENTS, row, REWRITTEN))
            }
        }
    }

    /// Checks that the rows of a run's requests for approval agree with its trail; returns the first flaw.
    async fn requests(&self, run: &Run, told: &Told<'_>) -> Result<Option<Found>, RuntimeError> {
        let mut filter = ApprovalFilter {
            run: Some(run.id.clone()),
            ..ApprovalFilter::default()
        };
        let mut there = BTreeSet::new();
        loop {
            let page = self.store.approvals(&filter).await?;
            let Some(last) = page.last() else { break };
            filter.after = Some(last.id.clone());
            for row in page {
                let is_decided = row.status != ApprovalStatus::Pending;
                let what = match told.requested.get(&*row.id) {
                    None => Some(INSERTED),
                    Some(digest) if !self.key.of_request(&row).is(digest) => Some(EDITED),
                    Some(_) => match told.decided.get(&*row.id) {
                        None => is_decided.then_some(EDITED),
                        Some(digest) => (!self.key.of_decision(&row).is(digest)).then_some(EDITED),
                    },
                };
                if let Some(what) = what {
                    return Ok(Some((APPROVALS, row.id, what)));
                }
                there.insert(row.id);
            }
        }
        let gone = told.requested.keys().find(|id| !there.contains(**id));
        Ok(gone.map(|id| (APPROVALS, (*id).to_owned(), REMOVED)))
    }

    /// Checks that the rows of a run's executions agree with its trail; returns the first flaw.
    async fn executions(&self, run: &Run, told: &Told<'_>) -> Result<Option<Found>, RuntimeError> {
        let mut filter = ExecutionFilter {
            run: Some(run.id.clone()),
            ..ExecutionFilter::default()
        };
        let mut there = BTreeSet::new();
        loop {
            let page = self.store.executions(&filter).await?;
            let Some(last) = page.last() else { break };
            filter.after = Some(last.id.clone());
            for row in page {
                if let Some(what) = self.execution(&row, told) {
                    return Ok(Some((EXECUTIONS, row.id, what)));
                }
                there.insert(row.id);
            }
        }
        let mut told = told.ran.keys().chain(told.began.keys());
        let gone = told.find(|id| !there.contains(**id));
        Ok(gone.map(|id| (EXECUTIONS, (*id).to_owned(), REMOVED)))
    }

    /// Returns what was done to the row of an execution; `None` if it is as it has to be.
    fn execution(&self, row: &Execution, told: &Told<'_>) -> Option<&'static str> {
        let is = |digest: Option<&&[u8]>, own: RowDigest, says_something: bool| match digest {
            None => !says_something,
            Some(digest) => own.is(digest),
        };
        let has_ended = row.output.is_some()
            || row.error.is_some()
            || row.effect_unknown
            || row.duration_ms.is_some();
        let (began, ended) = match (told.ran.get(&*row.id), told.began.get(&*row.id)) {
            (Some(digest), _) => (self.key.of_execution(row).is(digest), true),
            (None, Some(digest)) => (
                self.key.of_begin(row).is(digest),
                is(told.ended.get(&*row.id), self.key.of_end(row), has_ended),
            ),
            (None, None) => return Some(INSERTED),
        };
        let undone = is(
            told.undone.get(&*row.id),
            self.key.of_undo(row),
            row.rolled_back,
        );
        let settled = is(
            told.settled.get(&*row.id),
            self.key.of_settled(row),
            row.settled.is_some(),
        );
        (!(began && ended && undone && settled)).then_some(EDITED)
    }
}

/// Returns `true` if the trail begins with the start of the run, as each trail does that was kept from the beginning.
fn has_begin(events: &[AuditEvent]) -> bool {
    events
        .first()
        .is_some_and(|event| event.kind == AuditKind::Started)
}

fn is_erased(events: &[AuditEvent]) -> bool {
    events.iter().any(|event| event.kind == AuditKind::Erased)
}

/// Digests of rows that the events of a run tell: for each row, by its id, the digest in the last event about it.
#[derive(Default)]
struct Told<'a> {
    started: Option<&'a [u8]>,
    requested: BTreeMap<&'a str, &'a [u8]>,
    decided: BTreeMap<&'a str, &'a [u8]>,
    ran: BTreeMap<&'a str, &'a [u8]>,
    began: BTreeMap<&'a str, &'a [u8]>,
    ended: BTreeMap<&'a str, &'a [u8]>,
    undone: BTreeMap<&'a str, &'a [u8]>,
    settled: BTreeMap<&'a str, &'a [u8]>,
}

impl<'a> Told<'a> {
    fn of(events: &'a [AuditEvent]) -> Self {
        let mut told = Told::default();
        for event in events {
            let Some(digest) = event.row_digest.as_deref() else {
                continue;
            };
            let rows = match event.kind {
                AuditKind::Started => {
                    told.started = Some(digest);
                    continue;
                }
                AuditKind::Requested => &mut told.requested,
                AuditKind::Approved
                | AuditKind::Denied
                | AuditKind::RevisionRequested
                | AuditKind::Expired
                | AuditKind::Withdrawn => &mut told.decided,
                AuditKind::Ran => &mut told.ran,
                AuditKind::Began => &mut told.began,
                AuditKind::Ended | AuditKind::InDoubt => &mut told.ended,
                AuditKind::Undone => &mut told.undone,
                AuditKind::Settled => &mut told.settled,
                _ => continue,
            };
            rows.insert(event.subject.as_deref().unwrap_or_default(), digest);
        }
        told
    }
}
