//! A scripted server sends given bytes in given pieces, with pauses and cuts. It implements only as much HTTP as
//! tests of clients need, and records the requests.

#![allow(clippy::unwrap_used)]

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Request that the test server got and recorded.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Request line and headers of the request, as text.
    pub head: String,
    /// Body of the request, as text.
    pub body: String,
    /// Number of the connection on which the request came, counting from 0.
    pub connection: usize,
}

/// A step of the test server's answer, which it takes on the connection.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends these bytes to the client.
    Send(Vec<u8>),
    /// Waits for this time, and sends nothing.
    Wait(Duration),
    /// Closes the connection, whatever was sent before.
    Cut,
}

/// The answer of the test server to one request, as a list of steps.
#[derive(Clone, Debug)]
pub struct Answer(Vec<Step>);

impl Answer {
    /// Creates an answer of one JSON document, with its length in the head.
    pub fn json(status: u16, body: &str) -> Self {
        Answer::with_head(status, "content-type: application/json\r\n", body)
    }

    /// Creates an answer with these headers, each followed by `\r\n`.
    pub fn with_head(status: u16, head: &str, body: &str) -> Self {
        let text = format!(
            "HTTP/1.1 {status} X\r\n{head}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        Answer(vec![Step::Send(text.into_bytes())])
    }

    /// Creates a streamed answer from these texts, each of which is a chunk of the body.
    pub fn pieces(pieces: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let pieces = pieces.into_iter();
        Answer::begun()
            .and(pieces.map(|piece| Step::Send(chunk(piece.as_ref()))))
            .end()
    }

    /// Creates the head of a streamed answer; [`piece`](Answer::piece) adds to its body.
    pub fn begun() -> Self {
        Answer::begun_with("")
    }

    /// Creates the head of a streamed answer with these headers as well, each followed by `\r\n`.
    pub(crate) fn begun_with(head: &str) -> Self {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{head}transfer-encoding: chunked\r\n\r\n"
        );
        Answer(vec![Step::Send(head.into_bytes())])
    }

    /// Adds the end of a streamed answer.
    #[must_use]
    pub fn end(self) -> Self {
        self.and([Step::Send(b"0\r\n\r\n".to_vec())])
    }

    /// Creates an answer without a byte: the connection stays open.
    pub fn nothing() -> Self {
        Answer(Vec::new())
    }

    /// Adds steps to the end of the answer.
    #[must_use]
    pub fn and(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.0.extend(steps);
        self
    }

    /// Adds a chunk of the body with this text, in the chunked transfer encoding.
    #[must_use]
    pub fn piece(self, piece: &str) -> Self {
        self.and([Step::Send(chunk(piece.as_bytes()))])
    }

    /// Adds a pause of this many milliseconds.
    #[must_use]
    pub fn wait(self, millis: u64) -> Self {
        self.and([Step::Wait(Duration::from_millis(millis))])
    }

    /// Adds a step that closes the connection.
    #[must_use]
    pub fn cut(self) -> Self {
        self.and([Step::Cut])
    }
}

impl IntoIterator for Answer {
    type Item = Step;
    type IntoIter = std::vec::IntoIter<Step>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

pub(super) fn chunk(piece: &[u8]) -> Vec<u8> {
    let mut out = format!("{:x}\r\n", piece.len()).into_bytes();
    out.extend_from_slice(piece);
    out.extend_from_slice(b"\r\n");
    out
}

/// A running test server, and the requests that it has recorded.
///
/// ```
/// use agents_http::{Address, Headers, Limits, Server, testing};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let scripted = testing::Server::plays([testing::Answer::json(200, "{}")]).await;
/// let server = Server::new(Address::parse(&scripted.url, None)?, &Headers::default())?;
/// let endpoint = server.endpoint("v1/models")?;
/// let response = server.get(&endpoint).send(&Limits::default()).await?;
/// assert_eq!(response.status(), 200);
/// assert!(scripted.seen()[0].head.starts_with("GET /v1/models HTTP/1.1"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    /// Address of the server: `http://127.0.0.1:PORT`.
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Starts a server on a free port of this machine, which sends one answer per request, and repeats the last.
    ///
    /// # Panics
    /// When this machine has no free port, or outside of a tokio runtime.
    pub async fn plays(answers: impl IntoIterator<Item = Answer>) -> Self {
        let answers = Arc::new(Mutex::new(answers.into_iter().collect::<VecDeque<_>>()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                tokio::spawn(serve(stream, connection, answers.clone(), log.clone()));
            }
        });
        Server { url, seen }
    }

    /// Returns the requests that the server got so far, oldest first.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Returns the bodies of the requests that the server got so far, oldest first.
    pub fn bodies(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.body).collect()
    }
}

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    log: Arc<Mutex<Vec<Seen>>>,
) -> Option<()> {
    loop {
        let (head, body) = request(&mut stream).await?;
        log.lock().unwrap().push(Seen {
            head,
            body,
            connection,
        });
        let Answer(steps) = {
            let mut answers = answers.lock().unwrap();
            if answers.len() > 1 {
                answers.pop_front().unwrap()
            } else {
                answers[0].clone()
            }
        };
        for step in steps {
            match step {
                Step::Send(bytes) => stream.write_all(&bytes).await.ok()?,
                Step::Wait(time) => tokio::time::sleep(time).await,
                Step::Cut => return None,
            }
        }
    }
}

/// Reads the head and the body of a request; `None` if the connection was closed.
pub(super) async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let end = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length: ")?
                .parse::<usize>()
                .ok()
        })
        .unwrap_or(0);
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some((head, String::from_utf8(body).unwrap()))
}
