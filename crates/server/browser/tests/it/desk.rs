//! A control room in the process of the test, with the requests that the test needs.

use crate::room::{payer, until};
use agents_runtime::{Client, Principal, Progress, Request, Runtime, SqliteStore};
use agents_server::Server;
use agents_store::ApprovalFilter;
use std::collections::BTreeSet;
use tokio_util::sync::CancellationToken;

/// Control room whose runs each ask whether they may pay.
pub(crate) struct Desk {
    tokio: tokio::runtime::Runtime,
    client: Client,
    /// URL that signs in whoever opens it.
    pub(crate) url: String,
}

impl Desk {
    /// Opens a control room with a request for each of these arguments, in their order.
    pub(crate) fn open(calls: &[String]) -> Desk {
        let tokio = tokio::runtime::Runtime::new().unwrap();
        let (runtime, server) = tokio.block_on(async {
            let runtime = Runtime::open(SqliteStore::in_memory().await.unwrap());
            let server = Server::bind(runtime.as_client(), "127.0.0.1:0").await;
            (runtime, server.unwrap())
        });
        let desk = Desk {
            url: server.url().to_owned(),
            client: runtime.as_client().clone(),
            tokio,
        };
        let payer = runtime.agent(payer());
        desk.tokio.spawn(server.run());
        desk.tokio.spawn(runtime.work(CancellationToken::new()));
        for (count, args) in calls.iter().enumerate() {
            let start = payer.run(&**args).start();
            desk.tokio.block_on(start).unwrap();
            until("the request", || {
                (desk.pending().len() == count + 1).then_some(())
            });
        }
        desk
    }

    /// Returns the address of a page.
    pub(crate) fn at(&self, path: &str) -> String {
        let (origin, _) = self.url.split_once("/?").unwrap();
        format!("{origin}{path}")
    }

    /// Returns the requests that wait, the oldest first.
    pub(crate) fn pending(&self) -> Vec<Request> {
        let approvals = self.client.approvals();
        let pending = self
            .tokio
            .block_on(async { approvals.pending(&Principal::operator()).await });
        pending.unwrap()
    }

    /// Returns a request as it is stored.
    pub(crate) fn request(&self, id: &str) -> Request {
        let approvals = self.client.approvals();
        let request = self
            .tokio
            .block_on(async { approvals.get(id, &Principal::operator()).await });
        request.unwrap()
    }

    /// Waits until the run of a request is over, and returns its answer.
    pub(crate) fn answer(&self, request: &Request) -> String {
        let run = self.client.run::<String>(&request.run_id);
        until("the answer", || {
            match self.tokio.block_on(run.progress()).unwrap() {
                Progress::Done(outcome) => Some(outcome.result.unwrap()),
                _ => None,
            }
        })
    }

    /// Waits for a request that revises another one, and returns it.
    pub(crate) fn revised(&self, before: &Request) -> Request {
        until("the revised request", || {
            let filter = ApprovalFilter {
                run: Some(before.run_id.clone()),
                ..ApprovalFilter::default()
            };
            let approvals = self.client.approvals();
            let all = self
                .tokio
                .block_on(async { approvals.list(&filter, &Principal::operator()).await });
            all.unwrap()
                .into_iter()
                .find(|one| one.id != before.id && one.correlation_id == before.correlation_id)
        })
    }

    /// Returns the ids of the requests that wait.
    pub(crate) fn ids(&self) -> BTreeSet<String> {
        self.pending().into_iter().map(|one| one.id).collect()
    }
}
