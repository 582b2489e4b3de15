//! `agents check-deploy`: the unfinished runs that a new version of the application cannot go on with.

use super::read;
use crate::{failure::Failure, out::Out, session::Session, table::Table};
use agents_runtime::{Manifest, Misfit};
use std::path::Path;

pub(crate) async fn check(
    session: &Session,
    manifest: &Path,
    out: &mut Out,
) -> Result<(), Failure> {
    let manifest = Manifest::read(&read(manifest)?)?;
    let mut misfits = session.with_keys()?.misfits(&manifest).await?;
    let own = |misfit: &Misfit| {
        session
            .tenant
            .as_ref()
            .is_none_or(|own| *own == misfit.tenant_id)
    };
    misfits.retain(own);
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
    match misfits.is_empty() {
        true => Ok(()),
        false => Err(Failure::No),
    }
}
