//! `agents check-deploy`: the runs that a new version of the application cannot go on with, or would work otherwise.

use super::read;
use crate::{args::CheckDeployArgs, failure::Failure, out::Out, session::Session, table::Table};
use agents_runtime::{ChangedRun, Manifest, Misfit, Replays};
use std::path::Path;

pub(crate) async fn check(
    session: &Session,
    asked: &CheckDeployArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    match (&asked.manifest, &asked.journals) {
        (_, Some(replays)) => changed(session, replays, out).await,
        (Some(manifest), None) => misfits(session, manifest, out).await,
        // The arguments demand one of them.
        (None, None) => Ok(()),
    }
}

async fn misfits(session: &Session, manifest: &Path, out: &mut Out) -> Result<(), Failure> {
    let manifest = Manifest::read(&read(manifest)?)?;
    let mut misfits = session.with_keys()?.misfits(&manifest).await?;
    misfits.retain(|misfit: &Misfit| is_seen(session, &misfit.tenant_id));
    if out.is_json() {
        misfits.iter().try_for_each(|misfit| out.object(misfit))?;
    } else {
        let mut table = Table::new(&["RUN", "AGENT", "TENANT", "WHY"]);
        for misfit in &misfits {
            for reason in &misfit.reasons {
                table.row([
                    &misfit.run_id,
                    &misfit.agent_name,
                    &misfit.tenant_id,
                    reason,
                ]);
            }
        }
        table.print(out)?;
    }
    none_of(&misfits)
}

/// Prints what the application has found. Each run has to be one of the store.
async fn changed(session: &Session, replays: &Path, out: &mut Out) -> Result<(), Failure> {
    let mut changed = Replays::read(&read(replays)?)?.changed;
    changed.retain(|run: &ChangedRun| is_seen(session, &run.tenant_id));
    for run in &changed {
        session.run(&run.run_id).await?;
    }
    if out.is_json() {
        changed.iter().try_for_each(|run| out.object(run))?;
    } else {
        let mut table = Table::new(&["RUN", "AGENT", "TENANT", "FACT", "WHAT"]);
        for run in &changed {
            table.row([
                &run.run_id,
                &run.agent_name,
                &run.tenant_id,
                &run.fact.map(|fact| fact.to_string()).unwrap_or_default(),
                &run.what,
            ]);
        }
        table.print(out)?;
    }
    none_of(&changed)
}

fn is_seen(session: &Session, tenant: &str) -> bool {
    session.tenant.as_ref().is_none_or(|own| own == tenant)
}

fn none_of<T>(found: &[T]) -> Result<(), Failure> {
    match found.is_empty() {
        true => Ok(()),
        false => Err(Failure::No),
    }
}
