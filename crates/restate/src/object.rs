//! Object of Restate that stands for a run. Its one handler goes on with the run, and calls itself again when it has to.

use agents_core::run::Timestamp;
use agents_runtime::{Advanced, Runtime, RuntimeErrorKind};
use agents_store::ErrorKind;
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};
use tokio::{net::TcpListener, sync::Semaphore};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Name of the virtual object in Restate. Its key is the id of a run.
pub(crate) const NAME: &str = "AgentRun";
/// Name of the object's handler, which goes on with a run.
pub(crate) const HANDLER: &str = "advance";

/// Time for which a call of Restate waits until this process has room for the run, and then for the run. After that
/// time the run still goes on, and a later call finds out how the run went.
const PATIENCE: Duration = Duration::from_secs(20);

/// Pause before the first new try of a run that could not go on: another process has the run, or the run's turn has not
/// come. The pause doubles with each further try.
const SOON: Duration = Duration::from_millis(200);
/// Longest pause before a new try of such a run.
const LATE: Duration = Duration::from_secs(10);

struct AgentRun {
    runtime: Runtime,
    stop: CancellationToken,
    /// Runs on which this process works. They go on if the connection to Restate breaks: the lease of a run says that
    /// it is this process's.
    under_way: TaskTracker,
    /// Permits to work on a run: this process works on only so many at once.
    room: Arc<Semaphore>,
}

/// Time of the next call for a run, as Restate stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Next {
    /// After the next event of the run, which the relay sends. A run that is over or not in the store has none.
    Event,
    /// After this time, unless an event of the run comes earlier.
    After(Duration),
    /// Soon: another process has the run, the run's turn has not come, the run is still at work here, or it could not
    /// go on because something failed.
    Soon,
}

// Restate gives up calls that fail too often. These fail only where no worker is reached, so they are tried for years.
#[restate_sdk::object(
    name = "AgentRun",
    client_visibility = "pub(crate)",
    inactivity_timeout = "1m",
    abort_timeout = "1m",
    idempotency_retention = "1h",
    journal_retention = "0s",
    invocation_retry_policy(
        initial_interval = "100ms",
        factor = 2.0,
        max_interval = "5s",
        max_attempts = 100_000_000
    )
)]
impl AgentRun {
    /// Goes on with the run. `tries` is the number of calls in a row after which the run was to be called for again
    /// soon.
    #[handler]
    async fn advance(&self, ctx: ObjectContext<'_>, tries: u32) -> Result<(), HandlerError> {
        let run = ctx.key().to_owned();
        let next = ctx
            .run(|| async move { Ok(Json(self.next(run).await)) })
            .name(HANDLER)
            .await?;
        let again = ctx.object_client::<AgentRunClient<'_>>(ctx.key());
        match next.into_inner() {
            Next::Event => {}
            Next::After(time) => drop(again.advance(0).send_after(time)),
            Next::Soon => drop(
                again
                    .advance(tries.saturating_add(1))
                    .send_after(pause(tries)),
            ),
        }
        Ok(())
    }
}

impl AgentRun {
    async fn next(&self, run: String) -> Next {
        let room = tokio::time::timeout(PATIENCE, self.room.clone().acquire_owned());
        let Ok(Ok(place)) = room.await else {
            // Another worker may have room.
            return Next::After(SOON);
        };
        let (runtime, stop, id) = (self.runtime.clone(), self.stop.clone(), run.clone());
        let work = self.under_way.spawn(async move {
            let advanced = runtime.advance(&id, &stop).await;
            drop(place);
            advanced
        });
        match tokio::time::timeout(PATIENCE, work).await {
            Ok(Ok(Ok(advanced))) => next(advanced),
            Ok(Ok(Err(error))) if error.kind() == RuntimeErrorKind::Store(ErrorKind::NotFound) => {
                tracing::error!(run, %error, "a run that Restate calls for is not in the store");
                Next::Event
            }
            Ok(Ok(Err(error))) => {
                tracing::warn!(run, %error, "a run goes on later");
                Next::Soon
            }
            Ok(Err(panicked)) => {
                tracing::error!(run, %panicked, "a run goes on later");
                Next::Soon
            }
            Err(_) => Next::Soon,
        }
    }
}

fn next(advanced: Advanced) -> Next {
    match advanced {
        Advanced::Done | Advanced::Held | Advanced::Waiting { until: None } => Next::Event,
        Advanced::Waiting { until: Some(until) } => Next::After(until.since(Timestamp::now())),
        Advanced::Ready => Next::Soon,
    }
}

/// Returns the time until the next call, which doubles with each try, up to ten seconds.
fn pause(tries: u32) -> Duration {
    (SOON * 2_u32.saturating_pow(tries.min(10))).min(LATE)
}

/// Serves the calls of Restate until `stop` is cancelled. Then all runs are put down, and another process may go on
/// with them.
pub(crate) async fn serve(runtime: Runtime, listener: TcpListener, stop: CancellationToken) {
    let under_way = TaskTracker::new();
    let object = AgentRun {
        room: Arc::new(Semaphore::new(runtime.runs_at_once())),
        runtime,
        stop: stop.clone(),
        under_way: under_way.clone(),
    };
    let endpoint = Endpoint::builder().bind(object).build();
    HttpServer::new(endpoint)
        .serve_with_cancel(listener, stop.cancelled())
        .await;
    under_way.close();
    under_way.wait().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_not_to_be_had_is_tried_less_and_less_often() {
        assert_eq!(pause(0), SOON);
        assert_eq!(pause(1), SOON * 2);
        assert!(
            (0..u32::MAX)
                .step_by(1 << 20)
                .all(|tries| pause(tries) <= LATE)
        );
        assert_eq!(pause(u32::MAX), LATE);
    }

    #[test]
    fn a_run_that_waits_is_called_at_its_time() {
        assert_eq!(next(Advanced::Done), Next::Event);
        assert_eq!(next(Advanced::Held), Next::Event);
        assert_eq!(next(Advanced::Ready), Next::Soon);
        assert_eq!(next(Advanced::Waiting { until: None }), Next::Event);
        let past = Some(Timestamp::from_millis(1));
        assert_eq!(
            next(Advanced::Waiting { until: past }),
            Next::After(Duration::ZERO)
        );
        let later = Timestamp::from_millis(Timestamp::now().as_millis() + 100_000);
        let Next::After(time) = next(Advanced::Waiting { until: Some(later) }) else {
            panic!("it has a time");
        };
        assert!(time > Duration::from_secs(50) && time <= Duration::from_secs(100));
    }
}
