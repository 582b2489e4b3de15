#![deny(
    warnings,
    missing_docs,
    unreachable_pub,
    rust_2018_idioms,
    unused_qualifications
)]
//! Plain Rust says what became of an interrupted execution.

use agents::{
    prelude::{tool as block, *},
    tool,
};
use std::fmt;

/// Things that were changed.
#[derive(Clone, serde::Serialize)]
pub struct Change(String);

/// Why not.
#[derive(Debug)]
pub struct CrmError;

impl fmt::Display for CrmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the server is away")
    }
}

/// A client.
#[derive(Clone)]
pub struct Crm;

impl Crm {
    async fn set(&self, _: u64, _: String, _: &str) -> Result<Change, CrmError> {
        Err(CrmError)
    }
    async fn find(&self, _: String) -> Result<Option<Change>, CrmError> {
        Ok(None)
    }
}

tool! {
    /// Moves a lead to another status.
    #[tool(writes)]
    pub async fn update_lead_status(
        /// Lead that is meant.
        lead_id: u64,
        /// Its new status.
        new_status: String,
        #[inject] crm: Crm,
        cx: &ToolContext,
    ) -> Result<Change, CrmError> {
        crm.set(lead_id, new_status, &cx.idempotency_key()).await
    }

    in_doubt(key) => match crm.find(key).await? { Some(change) => done(change), None => not_done() },

    on_error { execution_error(_) => throw("no") }
}

tool! {
    /// Pays.
    #[tool(writes)]
    pub async fn pay(
        /// Amount of it.
        args: u32,
        /// Purpose of it.
        #[serde(rename = "for")]
        r#for: String,
        #[inject] crm: &Crm,
        context: &ToolContext,
    ) -> u32 {
        let _ = (crm, context, r#for);
        args
    }

    on_error { execution_error(_) => throw("no") }
    in_doubt(_) => {
        let Some(found) = crm.find(context.idempotency_key()).await? else {
            return not_done();
        };
        if found.0 == r#for {
            return done(args);
        }
        let amount: u32 = found.0.parse()?;
        let check = |amount: u32| {
            if amount > 3 {
                return false;
            }
            amount < args
        };
        match check(amount) {
            true => unknown(),
            false => Err("odd")?,
        }
    }
}

tool! {
    /// Sends.
    #[tool(writes)]
    pub async fn send(#[inject] crm: Crm) {
        let _ = crm;
    }

    in_doubt() => unknown()
}

tool! {
    /// Writes.
    #[tool(writes)]
    pub async fn write(
        /// Thing that is meant.
        cx: String,
    ) -> anyhow::Result<String> {
        Ok(cx)
    }

    in_doubt(key) => if cx.len() > 3 { done(key) } else { return not_done(); },
}

tool! {
    /// Waits for its author.
    #[tool(writes)]
    pub async fn later() -> anyhow::Result<String> {
        Ok(String::new())
    }

    in_doubt(_) => todo!(),
}

/// Books.
#[tool(writes)]
pub async fn book(
    /// Time of it.
    day: String,
    #[inject] crm: Crm,
) -> Result<Change, CrmError> {
    crm.set(1, day, "").await
}

in_doubt!(Book, |key| match self.crm.find(key).await? {
    Some(change) if change.0 == args.day => done(change),
    Some(_) => return unknown(),
    None if cx.attempt() > 1 => unknown(),
    None => not_done(),
});

/// Books by another name.
#[tool(writes, crate = agents)]
async fn rebook() -> u32 {
    3
}

in_doubt!(crate = agents, Rebook, |_| done(4));

/// Tools that another macro writes.
macro_rules! written {
    ($block:ident $beside:ident $Type:ident, $amount:ident, $found:expr) => {
        block! {
            /// Gives.
            #[tool(writes)]
            async fn $block(
                /// Amount of it.
                $amount: u32,
                #[inject] crm: &Crm,
            ) -> Result<u32, CrmError> {
                crm.find(String::new()).await.map(|_| $amount)
            }

            in_doubt(key) => match crm.find(key).await? {
                Some(_) => done($found),
                None => not_done(),
            }
        }

        /// Takes.
        #[tool(writes)]
        async fn $beside(
            /// Amount of it.
            $amount: u32,
            #[inject] crm: Crm,
        ) -> Result<u32, CrmError> {
            crm.find(String::new()).await.map(|_| $amount)
        }

        in_doubt!($Type, |key| match self.crm.find(key).await? {
            Some(_) => done(args.$amount),
            None => return not_done(),
        });
    };
}

written!(give take Take, amount, amount + 1);

pub(super) fn main() {
    let _ = (Give { crm: Crm }, Take { crm: Crm }, give, take);
    let _ = (
        UpdateLeadStatus { crm: Crm },
        Pay { crm: Crm },
        Send { crm: Crm },
    );
    let _ = (Write, Later, Book { crm: Crm }, Rebook);
    let _ = (update_lead_status, pay, send, write, later, book, rebook);
}
