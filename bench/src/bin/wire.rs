//! The lower bound of all contenders: requests are built in advance, and answers are read but not parsed.
//!
//! HTTP comes from hyper, as in `ours`, and the task that waits for an answer drives the connection. The requests
//! equal those of `ours` byte for byte.

use agents_bench::{PROMPT, QUESTION, Task, measure};
use http_body_util::{BodyExt, Full};
use hyper::{
    Request,
    body::Bytes,
    client::conn::http1::{self, SendRequest},
    header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderValue},
};
use hyper_util::rt::TokioIo;
use std::{
    fmt::Write,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Mutex,
    task::{Context, Poll},
};
use tokio::net::TcpStream;

#[tokio::main]
async fn main() {
    let task = Task::from_args();
    let host = task.url.trim_start_matches("http://").to_owned();
    let mut headers = HeaderMap::new();
    let name = HeaderValue::from_str(&host).expect("the address has a host");
    headers.insert(HOST, name);
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let bodies: Vec<Bytes> = (0..=task.turns).map(body).collect();
    let free: Mutex<Vec<Connection>> = Mutex::default();
    measure("wire", &task, || async {
        let kept = free.lock().expect("nobody panics").pop();
        let mut connection = match kept {
            Some(connection) => connection,
            None => Connection::to(&host).await,
        };
        let mut answer = Bytes::new();
        for body in &bodies {
            let mut request = Request::post("/api/chat")
                .body(Full::new(body.clone()))
                .expect("the request is well formed");
            *request.headers_mut() = headers.clone();
            answer = connection.ask(request).await;
        }
        free.lock().expect("nobody panics").push(connection);
        String::from_utf8_lossy(&answer).into_owned()
    })
    .await;
}

/// Returns the body of the request that a client sends after this number of calls.
fn body(calls: usize) -> Bytes {
    let mut text = format!(
        r#"{{"model":"bench","stream":false,"tools":[{TOOL}],"messages":[{{"role":"system","content":"{PROMPT}"}},{{"role":"user","content":"{QUESTION}"}}"#
    );
    for call in 0..calls {
        let (turn, sum) = (call + 1, call + 1);
        // Writing into a string cannot fail.
        let _ = write!(
            text,
            r#",{{"role":"assistant","content":"","tool_calls":[{{"id":"call_{turn}_0","function":{{"name":"add","arguments":{{"left":{call},"right":1}}}}}}]}},{{"role":"tool","content":"{sum}","tool_name":"add","tool_call_id":"call_{turn}_0"}}"#
        );
    }
    text.push_str("]}");
    text.into()
}

/// JSON declaration of the tool, as the contender `ours` sends it.
const TOOL: &str = r#"{"function":{"description":"Add two integers.","name":"add","parameters":{"additionalProperties":false,"properties":{"left":{"description":"Left operand","format":"int64","type":"integer"},"right":{"description":"Right operand","format":"int64","type":"integer"}},"required":["left","right"],"type":"object"}},"type":"function"}"#;

type Driver = http1::Connection<TokioIo<TcpStream>, Full<Bytes>>;

/// A connection to the server, which is driven by the task that waits for its answer.
struct Connection {
    requests: SendRequest<Full<Bytes>>,
    driver: Box<Driver>,
}

impl Connection {
    async fn to(host: &str) -> Connection {
        let stream = TcpStream::connect(host).await.expect("the server is there");
        stream.set_nodelay(true).expect("a socket has this option");
        let (requests, driver) = http1::handshake(TokioIo::new(stream))
            .await
            .expect("the server speaks HTTP");
        Connection {
            requests,
            driver: Box::new(driver),
        }
    }

    /// Sends a request and reads its answer.
    async fn ask(&mut self, request: Request<Full<Bytes>>) -> Bytes {
        let Connection { requests, driver } = self;
        let answer = requests.send_request(request);
        let answer = moved(driver, answer).await.expect("the server answers");
        let body = moved(driver, answer.into_body().collect()).await;
        // The connection has to process the end of the body.
        poll_fn(|cx| Poll::Ready(drive(driver, cx))).await;
        body.expect("the answer is whole").to_bytes()
    }
}

/// Waits for a result of a connection, and drives the connection meanwhile.
async fn moved<F: Future>(driver: &mut Driver, waiting: F) -> F::Output {
    let mut waiting = pin!(waiting);
    poll_fn(|cx| {
        // The result is polled first: the driver reads only bytes that were requested.
        let asked = waiting.as_mut().poll(cx);
        if asked.is_ready() {
            return asked;
        }
        drive(driver, cx);
        waiting.as_mut().poll(cx)
    })
    .await
}

fn drive(driver: &mut Driver, cx: &mut Context<'_>) {
    // A task that waits for an answer gets the error from there.
    let _ = Pin::new(driver).poll(cx);
}
