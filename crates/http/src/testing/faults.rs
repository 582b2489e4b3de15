//! A server that speaks Chat Completions, and plays the faults of the Failover Bench by the name of the model.

#![allow(clippy::unwrap_used)]

use super::server::{chunk, request};
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    time::{Instant, sleep},
};

/// Number of words of a whole answer of the server, each of which is an event of the stream.
const WORDS: usize = 60;

/// A fault that the test server plays. The numbers are those of the scenarios in the Failover Bench. The faults of a
/// stream (S07 to S11 and S14) meet only requests that ask for a stream; any other request for their models is
/// answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No fault: each request is answered.
    None,
    /// No fault, but a conversation that ends with the assistant's words is refused.
    NoPrefill,
    /// S01: the first request gets 429 with `Retry-After: 2`; later ones are answered.
    RetryAfter,
    /// S02: each request gets 429 without `Retry-After`.
    TooManyRequests,
    /// S03: the first request gets 500; later ones are answered.
    OneError,
    /// S04: each request gets 503, as from an overloaded server.
    Overloaded,
    /// S05: the connection of the first request is reset before a byte; later requests are answered.
    Reset,
    /// S06: requests get no byte for 120 seconds, and the connection is closed then.
    NoResponse,
    /// S07: the first token comes after 20 seconds.
    SlowFirstToken,
    /// S08: the connection is closed after 40 of 60 events.
    StreamCut,
    /// S09: the stream is silent for 30 seconds after 20 events, and is closed then.
    StreamStall,
    /// S10: the tenth event is not JSON.
    MalformedEvent,
    /// S11: the stream has all events and a finish reason, but no `[DONE]`.
    NoDone,
    /// S12: each request gets 400, `context_length_exceeded`.
    ContextLength,
    /// S13: each request gets 400, `content_policy_violation`.
    ContentFilter,
    /// S14: as S08, for a chain whose other model takes no prefill.
    StreamCutBeforeNoPrefill,
    /// S15: requests get 503 for 60 seconds after the start, and are answered afterwards.
    Flap,
    /// S16: each request gets 503, as in S04; the accounting of a chain of models is checked.
    OverloadedAndCounted,
}

impl Fault {
    /// All faults, in the order of the scenarios in the Failover Bench.
    pub const ALL: [Fault; 18] = [
        Fault::None,
        Fault::NoPrefill,
        Fault::RetryAfter,
        Fault::TooManyRequests,
        Fault::OneError,
        Fault::Overloaded,
        Fault::Reset,
        Fault::NoResponse,
        Fault::SlowFirstToken,
        Fault::StreamCut,
        Fault::StreamStall,
        Fault::MalformedEvent,
        Fault::NoDone,
        Fault::ContextLength,
        Fault::ContentFilter,
        Fault::StreamCutBeforeNoPrefill,
        Fault::Flap,
        Fault::OverloadedAndCounted,
    ];

    /// Returns the name of the model with this fault: a request for that model meets the fault.
    pub fn model(self) -> &'static str {
        match self {
            Fault::None => "fb-ok",
            Fault::NoPrefill => "fb-ok-noprefill",
            Fault::RetryAfter => "fb-s01-429-retry-after",
            Fault::TooManyRequests => "fb-s02-429-persistent",
            Fault::OneError => "fb-s03-500-then-200",
            Fault::Overloaded => "fb-s04-503-persistent",
            Fault::Reset => "fb-s05-reset",
            Fault::NoResponse => "fb-s06-no-response",
            Fault::SlowFirstToken => "fb-s07-slow-ttft",
            Fault::StreamCut => "fb-s08-stream-cut",
            Fault::StreamStall => "fb-s09-stream-stall",
            Fault::MalformedEvent => "fb-s10-malformed-chunk",
            Fault::NoDone => "fb-s11-no-done",
            Fault::ContextLength => "fb-s12-context-length",
            Fault::ContentFilter => "fb-s13-content-filter",
            Fault::StreamCutBeforeNoPrefill => "fb-s14-stream-cut",
            Fault::Flap => "fb-s15-flap",
            Fault::OverloadedAndCounted => "fb-s16-503-persistent",
        }
    }

    fn of(model: &str) -> Option<Fault> {
        Fault::ALL.into_iter().find(|fault| fault.model() == model)
    }
}

/// A request that the server has got, whichever model it was for.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Name of the model that the request was for, which chooses the fault.
    pub model: String,
    /// Time of the request, counted from the start of the server.
    pub at: Duration,
    /// Status that the request got; `None` if it got no response.
    pub status: Option<u16>,
}

/// A running server that plays faults, and its record of the requests.
///
/// ```
/// use agents_http::testing::{Fault, Faults};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // A client asks this model at this URL; waits take a twentieth of their time.
/// let faults = Faults::start(0.05).await;
/// let (url, model) = (faults.url(), Fault::StreamCut.model());
/// assert_eq!(faults.attempts(model).len(), 0);
/// # let _ = url;
/// # }
/// ```
#[derive(Debug)]
pub struct Faults {
    address: String,
    wall: Arc<Wall>,
}

#[derive(Debug)]
struct Wall {
    /// Factor by which each wait of a fault is multiplied.
    pace: f64,
    begun: Instant,
    attempts: Mutex<Vec<Attempt>>,
}

impl Faults {
    /// Starts a server on a free port of this machine. Each wait of a fault is multiplied by `pace`: 1 for the times of
    /// the bench. The header `Retry-After` has whole seconds, and stays as it is.
    ///
    /// # Panics
    /// When this machine has no free port, or outside of a tokio runtime.
    pub async fn start(pace: f64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let wall = Arc::new(Wall {
            pace,
            begun: Instant::now(),
            attempts: Mutex::default(),
        });
        let served = wall.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                let wall = served.clone();
                tokio::spawn(async move { wall.serve(stream).await });
            }
        });
        Faults { address, wall }
    }

    /// Returns the base URL for a client of Chat Completions: `http://127.0.0.1:PORT/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the requests that the server has got for a model, oldest first.
    pub fn attempts(&self, model: &str) -> Vec<Attempt> {
        let attempts = self.wall.attempts.lock().unwrap();
        let of_model = attempts.iter().filter(|attempt| attempt.model == model);
        of_model.cloned().collect()
    }

    /// Returns the text of a whole answer of the server.
    pub fn answer() -> String {
        pieces().concat()
    }
}

impl Wall {
    async fn serve(&self, mut stream: TcpStream) -> Option<()> {
        loop {
            let (_, body) = request(&mut stream).await?;
            let asked: Value = serde_json::from_str(&body).unwrap_or_default();
            let model = asked["model"].as_str().unwrap_or_default();
            let attempt = {
                let mut attempts = self.attempts.lock().unwrap();
                attempts.push(Attempt {
                    model: model.to_owned(),
                    at: self.begun.elapsed(),
                    status: None,
                });
                let earlier = attempts.iter().filter(|attempt| attempt.model == model);
                (attempts.len() - 1, earlier.count())
            };
            let (index, number) = attempt;
            let status = |status| self.attempts.lock().unwrap()[index].status = Some(status);
            let fault = Fault::of(model);
            if let Some(refusal) = self.refusal(fault, number, &asked) {
                status(refusal.0);
                refusal.send(&mut stream).await?;
                continue;
            }
            match fault {
                Some(Fault::Reset) if number == 1 => {
                    stream.set_zero_linger().ok()?;
                    return None;
                }
                Some(Fault::NoResponse) => {
                    self.wait(120).await;
                    return None;
                }
                _ => {}
            }
            status(200);
            match asked["stream"] == true {
                true => self.stream(&mut stream, fault, model).await?,
                false => whole(&mut stream, model).await?,
            }
        }
    }

    /// Returns the error with which the fault refuses the request; `None` if the request is answered. `number` counts
    /// the requests for its model from 1.
    fn refusal(&self, fault: Option<Fault>, number: usize, asked: &Value) -> Option<Refusal> {
        let Some(fault) = fault else {
            return Some(Refusal(404, "", "model_not_found"));
        };
        let is_prefilled = || {
            let last = asked["messages"].as_array().and_then(|all| all.last());
            last.is_some_and(|message| message["role"] == "assistant")
        };
        let is_down = || self.begun.elapsed() < self.paced(60);
        match fault {
            Fault::RetryAfter if number == 1 => {
                Some(Refusal(429, "retry-after: 2\r\n", "rate_limit_exceeded"))
            }
            Fault::TooManyRequests => Some(Refusal(429, "", "rate_limit_exceeded")),
            Fault::OneError if number == 1 => Some(Refusal(500, "", "internal_error")),
            Fault::Overloaded | Fault::OverloadedAndCounted => Some(Refusal(503, "", "overloaded")),
            Fault::Flap if is_down() => Some(Refusal(503, "", "overloaded")),
            Fault::ContextLength => Some(Refusal(400, "", "context_length_exceeded")),
            Fault::ContentFilter => Some(Refusal(400, "", "content_policy_violation")),
            Fault::NoPrefill if is_prefilled() => Some(Refusal(400, "", "prefill_not_supported")),
            _ => None,
        }
    }

    /// Sends a stream, up to the place where the fault stops it. `None` means that the connection is to be closed.
    async fn stream(
        &self,
        stream: &mut TcpStream,
        fault: Option<Fault>,
        model: &str,
    ) -> Option<()> {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).await.ok()?;
        if fault == Some(Fault::SlowFirstToken) {
            self.wait(20).await;
        }
        for (index, piece) in pieces().iter().enumerate() {
            match (fault, index) {
                (Some(Fault::StreamCut | Fault::StreamCutBeforeNoPrefill), 40) => return None,
                (Some(Fault::StreamStall), 20) => {
                    self.wait(30).await;
                    return None;
                }
                // An event more: a proxy has put it there.
                (Some(Fault::MalformedEvent), 9) => {
                    send(stream, "{\"choices\":[{\"delta\":{\"content\":\"gar").await?;
                }
                _ => {}
            }
            let choice =
                json!({ "index": 0, "delta": { "content": piece }, "finish_reason": null });
            send(stream, &event(model, &json!([choice]), &Value::Null)).await?;
        }
        let last = json!([{ "index": 0, "delta": {}, "finish_reason": "stop" }]);
        send(stream, &event(model, &last, &Value::Null)).await?;
        send(stream, &event(model, &json!([]), &usage())).await?;
        if fault != Some(Fault::NoDone) {
            send(stream, "[DONE]").await?;
        }
        stream.write_all(b"0\r\n\r\n").await.ok()
    }

    fn paced(&self, seconds: u64) -> Duration {
        Duration::from_secs(seconds).mul_f64(self.pace)
    }

    async fn wait(&self, seconds: u64) {
        sleep(self.paced(seconds)).await;
    }
}

/// A response that is an error: its status, its further headers, and the code in its body.
struct Refusal(u16, &'static str, &'static str);

impl Refusal {
    async fn send(&self, stream: &mut TcpStream) -> Option<()> {
        let Refusal(status, head, code) = self;
        let message = format!("this is the fault `{code}`");
        let body = json!({ "error": { "message": message, "type": code, "code": code } });
        document(stream, *status, head, &body).await
    }
}

async fn whole(stream: &mut TcpStream, model: &str) -> Option<()> {
    let message = json!({ "role": "assistant", "content": Faults::answer() });
    let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
    let body = json!({ "id": "fb", "object": "chat.completion", "model": model, "choices": [choice], "usage": usage() });
    document(stream, 200, "", &body).await
}

async fn document(stream: &mut TcpStream, status: u16, head: &str, body: &Value) -> Option<()> {
    let body = body.to_string();
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status} X\r\n{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).await.ok()
}

async fn send(stream: &mut TcpStream, data: &str) -> Option<()> {
    let event = chunk(format!("data: {data}\n\n").as_bytes());
    stream.write_all(&event).await.ok()
}

fn event(model: &str, choices: &Value, usage: &Value) -> String {
    json!({ "id": "fb", "object": "chat.completion.chunk", "model": model, "choices": choices, "usage": usage })
        .to_string()
}

fn usage() -> Value {
    json!({ "prompt_tokens": 20, "completion_tokens": WORDS, "total_tokens": 20 + WORDS })
}

/// Returns the texts of the events of a whole answer, a word each.
fn pieces() -> Vec<String> {
    (1..=WORDS).map(|number| format!("word{number} ")).collect()
}
