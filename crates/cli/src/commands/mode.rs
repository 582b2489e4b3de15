//! `agents mode`: the modes, in which people are asked about calls.

use super::seconds;
use crate::{args::ModeArgs, failure::Failure, out::Out, session::Session, table::Table};
use agents_runtime::Mode;

pub(crate) async fn mode(
    session: &Session,
    asked: &ModeArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let mode = asked.mode.map(Mode::from);
    if mode.is_none() && !asked.remove {
        return list(session, out).await;
    }
    let tenant = session.tenant.as_deref();
    if tenant.is_none() && !asked.all {
        return Err(crate::wording::no_tenant_for_mode());
    }
    let modes = session.with_keys()?.modes();
    match mode {
        Some(mode) => modes.set(tenant, mode, &session.who).await?,
        None => modes.remove(tenant, &session.who).await?,
    }
    list(session, out).await
}

async fn list(session: &Session, out: &mut Out) -> Result<(), Failure> {
    let mut set = session.with_keys()?.modes().list(&session.who).await?;
    if let Some(own) = &session.tenant {
        set.retain(|one| one.tenant_id.as_ref().is_none_or(|tenant| tenant == own));
    }
    if out.is_json() {
        return set.iter().try_for_each(|one| out.object(one));
    }
    let mut table = Table::new(&["TENANT", "MODE", "SET BY", "SET"]);
    for one in &set {
        table.row([
            one.tenant_id.as_deref().unwrap_or("(all)"),
            one.mode.as_str(),
            &one.set_by,
            &seconds(one.set_at),
        ]);
    }
    table.print(out)
}
