//! Bytes over HTTP: connections, time limits, size limits. Knows nothing of models.

use reqwest::{Client, Request, Response, redirect};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    runtime::{Handle, Id},
    time::timeout,
};

/// No answer of a model is as long as this.
pub(crate) const MAX_BODY: usize = 64 << 20;

/// How long a machine that is there needs to say so.
const CONNECT: Duration = Duration::from_secs(10);

/// More runtimes than this at once is somebody's mistake; the oldest client goes first.
const MAX_CLIENTS: usize = 16;

/// Why bytes did not come, or not all of them.
#[derive(Debug)]
pub(crate) enum Broken {
    /// No connection.
    Connect(reqwest::Error),
    /// The connection was there, and broke.
    Cut(reqwest::Error),
    /// Nothing came for as long as the caller was ready to wait.
    Silent,
    /// More than [`MAX_BODY`] came.
    TooLong,
    /// There is no tokio runtime here.
    NoRuntime,
}

struct Shared {
    runtime: Id,
    direct: bool,
    client: Client,
}

static CLIENTS: Mutex<Vec<Shared>> = Mutex::new(Vec::new());

/// The client of the runtime we are on. A connection is driven by the runtime that opened it:
/// handing it to another one would tie two runs together that know nothing of each other.
fn client(direct: bool) -> Result<Client, Broken> {
    let runtime = Handle::try_current().map_err(|_| Broken::NoRuntime)?.id();
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(held) = clients
        .iter()
        .find(|held| held.runtime == runtime && held.direct == direct)
    {
        return Ok(held.client.clone());
    }
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .tcp_nodelay(true);
    if direct {
        builder = builder.no_proxy();
    }
    let client = builder.build().map_err(Broken::Connect)?;
    if clients.len() >= MAX_CLIENTS {
        clients.remove(0);
    }
    clients.push(Shared {
        runtime,
        direct,
        client: client.clone(),
    });
    Ok(client)
}

/// Sends a request and waits for the head of the answer.
pub(crate) async fn send(
    request: Request,
    direct: bool,
    wait: Duration,
) -> Result<Response, Broken> {
    let answered = timeout(wait, client(direct)?.execute(request)).await;
    match answered.map_err(|_| Broken::Silent)? {
        Ok(response) => Ok(response),
        Err(error) if error.is_connect() || error.is_builder() => Err(Broken::Connect(error)),
        Err(error) => Err(Broken::Cut(error)),
    }
}

/// The body, piece by piece.
pub(crate) struct Body {
    response: Response,
    wait: Duration,
    taken: usize,
}

impl Body {
    pub(crate) fn new(response: Response, wait: Duration) -> Self {
        Body {
            response,
            wait,
            taken: 0,
        }
    }

    /// Whether all has come, where the server has said how much that is.
    pub(crate) fn is_whole(&self) -> bool {
        self.response.content_length() == Some(0)
    }

    /// The next piece; `None` after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, Broken> {
        let piece = timeout(self.wait, self.response.chunk())
            .await
            .map_err(|_| Broken::Silent)?;
        let piece = piece.map_err(Broken::Cut)?;
        if let Some(piece) = &piece {
            self.taken += piece.len();
        }
        if self.taken > MAX_BODY {
            Err(Broken::TooLong)
        } else {
            Ok(piece)
        }
    }

    /// Waits less from now on.
    pub(crate) fn hurry(&mut self, wait: Duration) {
        self.wait = self.wait.min(wait);
    }

    /// Hands all of it to `read`, without a copy if it came in one piece. What `read` is given
    /// may be cut: the second argument says why.
    pub(crate) async fn whole<R>(mut self, read: impl FnOnce(&[u8], Option<Broken>) -> R) -> R {
        let expected = self.response.content_length();
        let first = match self.next().await {
            Ok(Some(first)) => first,
            Ok(None) => return read(b"", None),
            Err(broken) => return read(b"", Some(broken)),
        };
        if expected == Some(first.as_ref().len() as u64) {
            return read(first.as_ref(), None);
        }
        let mut all = first.as_ref().to_vec();
        loop {
            match self.next().await {
                Ok(Some(piece)) => all.extend_from_slice(piece.as_ref()),
                Ok(None) => return read(&all, None),
                Err(broken) => return read(&all, Some(broken)),
            }
        }
    }
}
