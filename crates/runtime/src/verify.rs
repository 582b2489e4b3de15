//! Checks of the audit trail.

use crate::{
    Head, Keyring, RuntimeError,
    data::{RunData, entries, key_of},
    keys::hex,
    run_key::RunKey,
    trail::{COMMITS, EVENTS, Found, RUNS, Recorded, Told, chain, events_after, requests_of},
    wording::flaws::{EDITED, REMOVED, REMOVED_LATER, REWRITTEN, UNOPENED},
};
use agents_core::journal::Follower;
use agents_store::{AuditEvent, AuditKey, ExecutionFilter, PLATFORM, Run, RunFilter, Store};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, sync::Arc};

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

/// Check of the audit trail of a whole store, while it goes on.
pub(crate) struct Verify<'a> {
    store: &'a Arc<dyn Store>,
    key: AuditKey,
    keys: Arc<dyn Keyring>,
    /// Heads that were kept outside the store, by the id of the run.
    anchors: BTreeMap<&'a str, &'a Head>,
    verdict: Verdict,
}

impl<'a> Verify<'a> {
    pub(crate) fn new(
        store: &'a Arc<dyn Store>,
        keys: Arc<dyn Keyring>,
        key: AuditKey,
        heads: Option<&'a [Head]>,
    ) -> Self {
        let anchors = heads.unwrap_or_default().iter();
        Verify {
            store,
            key,
            keys,
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
            let events = events_after(&**self.store, id, 0).await?;
            let told = Told::of(&events);
            let found = self.check(&run, &events, &told).await?;
            if found.is_some() && left > 0 {
                let now = self.store.run(id).await?;
                if let Some(now) =
                    now.filter(|now| (now.audit_seq, now.last_seq) != (run.audit_seq, run.last_seq))
                {
                    run = now;
                    continue;
                }
            }
            self.verdict.events += events.len() as u64;
            self.verdict.without_trail += u64::from(!told.has_start());
            self.verdict.erased += u64::from(told.is_erased());
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
            let events = events_after(&**self.store, PLATFORM, 0).await?;
            let trail = Trail {
                id: PLATFORM,
                tenant: None,
                seq: end.seq,
                digest: &end.digest,
                table: "agent_platform",
            };
            let found = self.chain(&trail, &events);
            let found = found.or_else(|| Told::of(&events).modes(&self.key, &platform.modes));
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

    /// Returns the first flaw of a run's trail and rows; `None` if there is none.
    async fn check(
        &self,
        run: &Run,
        events: &[AuditEvent],
        told: &Told,
    ) -> Result<Option<Found>, RuntimeError> {
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
        if told.is_erased() {
            return Ok(None);
        }
        if !told.has_start() {
            let key = key_of(run, &*self.keys);
            let data = key.and_then(|key| RunData::of(run, &key));
            let is_due = data.is_ok_and(|data| data.audited);
            return Ok(is_due.then(|| (EVENTS, "1".to_owned(), REMOVED)));
        }
        if let Some(found) = told.run(&self.key, run) {
            return Ok(Some(found));
        }
        match self.rows(run, told).await? {
            None => self.journal(run, told).await,
            found => Ok(found),
        }
    }

    /// Checks the chain of events of a trail, its stored end, and the head from outside; returns the first flaw.
    fn chain(&self, trail: &Trail<'_>, events: &[AuditEvent]) -> Option<Found> {
        if let Some(found) = chain(&self.key, (0, &[]), trail.tenant, events) {
            return Some(found);
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

    /// Checks the rows of a run's requests for approval, and those of its executions; returns the first flaw.
    async fn rows(&self, run: &Run, told: &Told) -> Result<Option<Found>, RuntimeError> {
        let requests = requests_of(&**self.store, &run.id).await?;
        if let Some(found) = told.requests(&self.key, &requests) {
            return Ok(Some(found));
        }
        let mut filter = ExecutionFilter {
            run: Some(run.id.clone()),
            ..ExecutionFilter::default()
        };
        let mut executions = Vec::new();
        loop {
            let page = self.store.executions(&filter).await?;
            let Some(last) = page.last() else { break };
            filter.after = Some(last.id.clone());
            executions.extend(page);
        }
        Ok(told.executions(&self.key, &executions))
    }

    /// Checks that the commits of a run are whole and its own, and that its journal tells of the same requests and
    /// executions as its trail; returns the first flaw. A journal whose keys were erased is not read.
    async fn journal(&self, run: &Run, told: &Told) -> Result<Option<Found>, RuntimeError> {
        let flaw = |row: String, what| Ok(Some((COMMITS, row, what)));
        let commits = self.store.commits(&run.id, 0).await?;
        let last = commits.last().map_or(0, |commit| commit.last);
        if last < run.last_seq {
            return flaw((last + 1).to_string(), REMOVED);
        }
        if last > run.last_seq {
            return Ok(Some((RUNS, run.id.clone(), EDITED)));
        }
        if RunKey::is_gone(&*self.keys, &run.tenant, &run.data_key)? {
            return Ok(None);
        }
        let Ok(key) = key_of(run, &*self.keys) else {
            return Ok(Some((RUNS, run.id.clone(), UNOPENED)));
        };
        let (mut after, mut follower) = (0, Follower::new());
        let mut recorded = Recorded::default();
        for commit in &commits {
            if commit.after != after {
                return flaw((after + 1).to_string(), REMOVED);
            }
            let Ok(entries) = entries(&key, after, std::slice::from_ref(commit)) else {
                return flaw((after + 1).to_string(), EDITED);
            };
            for entry in &entries {
                match follower.on(entry) {
                    Ok(followed) => recorded.on(&run.id, entry, &followed),
                    Err(_) => return flaw(entry.seq().to_string(), EDITED),
                }
            }
            after = commit.last;
        }
        Ok(told.journal(&recorded))
    }
}
