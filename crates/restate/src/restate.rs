use crate::{RestateError, object, relay, wording};
use agents_runtime::{Client, Runtime};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::{error::Error, time::Duration};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Restate server, by the address of its ingress. Clones are handles of the same server.
///
/// ```no_run
/// # async fn set_up(store: agents_runtime::PostgresStore) -> Result<(), Box<dyn std::error::Error>> {
/// use agents_restate::Restate;
/// use agents_runtime::Runtime;
///
/// let restate = Restate::at("http://restate.internal:8080")?;
/// // Once, when workers are there:
/// restate.register("http://restate.internal:9070", "http://workers.internal:9080").await?;
/// // Runs of the store from before go on, too.
/// let woken = restate.wake_all(&Runtime::client(store)).await?;
/// println!("{woken} runs");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Restate {
    ingress: String,
    http: reqwest::Client,
}

/// Time that a call to Restate may take, after which it has failed.
const PATIENCE: Duration = Duration::from_secs(10);

impl Restate {
    /// Creates a handle of the server whose ingress has this address, such as `http://restate.internal:8080`. Nothing is
    /// connected yet.
    ///
    /// ```
    /// use agents_restate::Restate;
    ///
    /// let restate = Restate::at("http://localhost:8080")?;
    /// assert!(Restate::at("localhost").is_err());
    /// # let _ = restate;
    /// # Ok::<(), agents_restate::RestateError>(())
    /// ```
    ///
    /// # Errors
    /// When that is no address of the scheme `http`.
    pub fn at(ingress: impl Into<String>) -> Result<Self, RestateError> {
        let ingress = address(ingress.into())?;
        let http = reqwest::Client::builder().timeout(PATIENCE).no_proxy();
        let http = http
            .build()
            .map_err(|error| RestateError::new(wording::not_reached(&ingress, &error)))?;
        Ok(Restate { ingress, http })
    }

    /// Works on the runs that Restate asks for, until `stop` is cancelled. Any number of processes may do so.
    ///
    /// Restate reaches this process through `listener`: [`register`](Restate::register) the address of the listener, or
    /// the address of a load balancer in front of all workers. The process also sends Restate the stored events after
    /// which a run can go on, and does the [upkeep](Runtime::upkeep) of a worker.
    ///
    /// When `stop` is cancelled, each run is put down at its next safe moment, and goes on in another process. The
    /// future ends when all runs are put down.
    pub async fn work(&self, runtime: Runtime, listener: TcpListener, stop: CancellationToken) {
        tokio::join!(
            object::serve(runtime.clone(), listener, stop.clone()),
            relay::relay(self, runtime.as_client(), &stop),
            runtime.clone().upkeep(stop.clone()),
        );
    }

    /// Tells Restate the address of the workers. `admin` is the address of Restate's admin API, such as
    /// `http://restate.internal:9070`. Call this once, when workers run, and again when their address changes.
    ///
    /// # Errors
    /// When `admin` is no address of the scheme `http`, or Restate cannot be reached or cannot reach the workers.
    pub async fn register(&self, admin: &str, workers: &str) -> Result<(), RestateError> {
        let admin = address(admin.to_owned())?;
        let body = serde_json::json!({ "uri": workers, "force": true });
        self.post(format!("{admin}/deployments"), None, body.to_string())
            .await
    }

    /// Lets a run go on, if the run can. Where a worker runs, no call is needed: the worker sends Restate the events of
    /// the store.
    ///
    /// # Errors
    /// When Restate cannot be reached, or has no workers.
    pub async fn wake(&self, run: &str) -> Result<(), RestateError> {
        self.send(run, None).await
    }

    /// Lets all runs go on that are neither over nor held, and returns their number. Call this when Restate is used for
    /// the first time with a store that has runs, and when Restate has lost its data.
    ///
    /// # Errors
    /// When the store fails, Restate cannot be reached, or it has no workers.
    pub async fn wake_all(&self, client: &Client) -> Result<u64, RestateError> {
        relay::wake_all(self, client).await
    }

    /// Sends the call by which Restate goes on with a run. Calls with the same `id` are one call; without `id`, each
    /// call is one of its own.
    pub(crate) async fn send(&self, run: &str, id: Option<String>) -> Result<(), RestateError> {
        let key = utf8_percent_encode(run, NON_ALPHANUMERIC);
        let url = format!(
            "{}/restate/send/{}/{key}/{}",
            self.ingress,
            object::NAME,
            object::HANDLER
        );
        self.post(url, id, "0".to_owned()).await
    }

    async fn post(
        &self,
        url: String,
        id: Option<String>,
        body: String,
    ) -> Result<(), RestateError> {
        let mut request = self
            .http
            .post(&url)
            .header("content-type", "application/json");
        if let Some(id) = id {
            request = request.header("idempotency-key", id);
        }
        let answer = request.body(body).send().await;
        let answer = answer.map_err(|error| {
            let why = error
                .source()
                .map_or(error.to_string(), ToString::to_string);
            RestateError::new(wording::not_reached(&url, &why))
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let said = answer.text().await.unwrap_or_default();
        Err(RestateError::new(wording::refused(&url, &status, &said)))
    }
}

/// Checks an address, and returns it without a slash at its end.
fn address(address: String) -> Result<String, RestateError> {
    let refused =
        |error: &dyn std::fmt::Display| RestateError::new(wording::no_address(&address, error));
    let url = reqwest::Url::parse(&address).map_err(|error| refused(&error))?;
    if url.scheme() != "http" {
        return Err(refused(&wording::NOT_HTTP));
    }
    Ok(address.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_checked() {
        assert_eq!(address("http://a:1/".to_owned()).unwrap(), "http://a:1");
        for bad in ["", "a:8080", "https://a", "ftp://a", "/restate"] {
            let error = Restate::at(bad).unwrap_err().to_string();
            assert!(error.contains("write it like"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_named() {
        // Nothing listens on a port that was just given back.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let free = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        let error = Restate::at(&*free).unwrap().wake("run").await.unwrap_err();
        assert!(error.to_string().contains(&free), "{error}");
    }
}
