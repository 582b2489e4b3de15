//! A scripted model behind Ollama's `/api/chat`. It calls `add` until the conversation has TURNS results, then answers
//! "done".

use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use memchr::memmem;
use std::time::Duration;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arg = |at: usize| {
        std::env::args()
            .nth(at)
            .and_then(|text| text.parse::<u64>().ok())
            .unwrap_or(0)
    };
    let (port, turns, delay) = (arg(1), arg(2) as usize, Duration::from_millis(arg(3)));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port as u16))
        .await
        .expect("the port is free");
    while let Ok((socket, _)) = listener.accept().await {
        socket.set_nodelay(true).ok();
        let serve = service_fn(move |request| answer(request, turns, delay));
        tokio::spawn(async move {
            http1::Builder::new()
                .serve_connection(TokioIo::new(socket), serve)
                .await
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    turns: usize,
    delay: Duration,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let chat = request.uri().path() == "/api/chat";
    let body = request.into_body().collect().await?.to_bytes();
    if !chat {
        return Ok(Response::new(Full::from(
            r#"{"version":"0.12.0","models":[]}"#,
        )));
    }
    tokio::time::sleep(delay).await;
    let seen = memmem::find_iter(&body, br#""role":"tool""#).count();
    let message = match seen < turns {
        true => format!(
            r#"{{"role":"assistant","content":"","tool_calls":[{{"function":{{"name":"add","arguments":{{"left":{seen},"right":1}}}}}}]}}"#
        ),
        false => r#"{"role":"assistant","content":"done"}"#.to_owned(),
    };
    let text = format!(
        "{{\"model\":\"bench\",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":{message},\"done_reason\":\"stop\",\"done\":true,\
         \"total_duration\":1,\"load_duration\":1,\"prompt_eval_count\":10,\"prompt_eval_duration\":1,\"eval_count\":5,\"eval_duration\":1}}\n"
    );
    let response = Response::builder()
        .header("content-type", "application/json")
        .body(Full::from(text));
    Ok(response.expect("the response is well formed"))
}
