//! A scripted model behind Ollama's `/api/chat` and OpenAI's `/v1/chat/completions`. It calls `add` until the
//! conversation has TURNS results, then answers "done".

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
    let reply = match request.uri().path() {
        "/api/chat" => ollama,
        "/v1/chat/completions" => completion,
        _ => {
            return Ok(Response::new(Full::from(
                r#"{"version":"0.12.0","models":[]}"#,
            )));
        }
    };
    let body = request.into_body().collect().await?.to_bytes();
    tokio::time::sleep(delay).await;
    let seen = memmem::find_iter(&body, br#""role":"tool""#).count();
    let text = reply((seen < turns).then_some(seen));
    let response = Response::builder()
        .header("content-type", "application/json")
        .body(Full::from(text));
    Ok(response.expect("the response is well formed"))
}

/// Returns a reply of Ollama: a call of `add` with this number; for `None`, the answer that ends the run.
fn ollama(left: Option<usize>) -> String {
    let message = match left {
        Some(left) => format!(
            r#"{{"role":"assistant","content":"","tool_calls":[{{"function":{{"name":"add","arguments":{{"left":{left},"right":1}}}}}}]}}"#
        ),
        None => r#"{"role":"assistant","content":"done"}"#.to_owned(),
    };
    format!(
        "{{\"model\":\"bench\",\"created_at\":\"2026-01-01T00:00:00Z\",\"message\":{message},\"done_reason\":\"stop\",\"done\":true,\
         \"total_duration\":1,\"load_duration\":1,\"prompt_eval_count\":10,\"prompt_eval_duration\":1,\"eval_count\":5,\"eval_duration\":1}}\n"
    )
}

/// Returns the same reply in the format of Chat Completions.
fn completion(left: Option<usize>) -> String {
    let (message, reason) = match left {
        Some(left) => (
            format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{left}","type":"function","function":{{"name":"add","arguments":"{{\"left\":{left},\"right\":1}}"}}}}],"refusal":null,"annotations":[]}}"#
            ),
            "tool_calls",
        ),
        None => (
            r#"{"role":"assistant","content":"done","refusal":null,"annotations":[]}"#.to_owned(),
            "stop",
        ),
    };
    format!(
        "{{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"created\":1767225600,\"model\":\"bench\",\"choices\":[{{\"index\":0,\
         \"message\":{message},\"logprobs\":null,\"finish_reason\":\"{reason}\"}}],\"usage\":{{\"prompt_tokens\":10,\
         \"completion_tokens\":5,\"total_tokens\":15,\"prompt_tokens_details\":{{\"cached_tokens\":0,\"audio_tokens\":0}},\
         \"completion_tokens_details\":{{\"reasoning_tokens\":0,\"audio_tokens\":0,\"accepted_prediction_tokens\":0,\
         \"rejected_prediction_tokens\":0}}}},\"service_tier\":\"default\"}}\n"
    )
}
