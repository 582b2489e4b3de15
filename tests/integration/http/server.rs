//! A scripted server that sends given bytes, and records its requests.

use crate::world::scripted_agent;
use agents::{
    Agent, Outcome,
    error::ErrorRecord,
    http::{HttpAnswer, HttpTool},
    run::{Approval, ToolEnvelope},
    testing::Script,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A running server; `asked` holds its requests, head and body.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

/// Answer to a path: its bytes, and the behaviour after them.
pub(crate) enum Answer {
    /// Sends these bytes and closes the connection.
    Bytes(String),
    /// Sends these bytes repeatedly until the client stops reading.
    Forever(String),
    /// Sends these bytes, then nothing, and keeps the connection open.
    Hang(String),
}

pub(crate) fn with(status: u16, headers: &str, body: &str) -> Answer {
    let length = body.len();
    Answer::Bytes(format!(
        "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    ))
}

pub(crate) fn json(body: &str) -> Answer {
    with(200, "content-type: application/json\r\n", body)
}

impl Server {
    pub(crate) async fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Server {
            port,
            asked: Arc::default(),
        };
        let (kept, answer) = (server.asked.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, answer) = (kept.clone(), answer.clone());
                tokio::spawn(async move {
                    // The client may close the connection early.
                    let _ = serve(stream, &kept, &*answer).await;
                });
            }
        });
        server
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Returns a tool that may ask this server.
    pub(crate) fn tool(&self) -> HttpTool {
        HttpTool::new()
            .allow_private_host(&format!("127.0.0.1:{}", self.port))
            .timeout(Duration::from_secs(5))
    }
}

async fn serve(
    mut stream: TcpStream,
    kept: &Mutex<Vec<String>>,
    answer: &(impl Fn(&str) -> Answer + ?Sized),
) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let read = stream.read(&mut piece).await?;
        request.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&request);
        if read == 0 {
            return Ok(());
        }
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0) {
            break;
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    kept.lock().unwrap().push(request);
    match answer(&path) {
        Answer::Bytes(bytes) => stream.write_all(bytes.as_bytes()).await?,
        Answer::Forever(bytes) => loop {
            stream.write_all(bytes.as_bytes()).await?;
        },
        Answer::Hang(bytes) => {
            stream.write_all(bytes.as_bytes()).await?;
            std::future::pending::<()>().await;
        }
    }
    stream.shutdown().await
}

/// Runs one call of the tool, with an approver that approves everything, and returns its receipt.
pub(crate) async fn call(tool: HttpTool, arguments: serde_json::Value) -> Arc<ToolEnvelope> {
    let outcome = run(tool, arguments).await;
    let id = &outcome.outputs.tool_order[0];
    outcome.outputs.tools_by_id[id].clone()
}

pub(crate) async fn run(tool: HttpTool, arguments: serde_json::Value) -> Outcome<String> {
    let script = [
        Script::call("http_request", arguments.to_string()),
        Script::text("done"),
    ];
    let agent = scripted_agent("clerk", script).tool(tool).build();
    agent
        .run("go")
        .secret("crm", "the-key-of-the-crm".to_owned())
        .approver(|_| async { Approval::Approve })
        .outcome()
        .await
        .unwrap()
}

/// Returns the answer to a `GET` request of this URL.
pub(crate) async fn get(tool: HttpTool, url: &str) -> Result<HttpAnswer, ErrorRecord> {
    let receipt = call(tool, serde_json::json!({ "url": url })).await;
    match &receipt.error {
        Some(error) => Err((**error).clone()),
        None => Ok(receipt.output.as_ref().unwrap().to().unwrap()),
    }
}
