//! A scripted Ollama server.

/// Starts a server with this answer; returns a client in constrained mode, and the receiver of the requests.
pub(super) fn ollama(
    answer: &'static str,
) -> (agents::Ollama, std::sync::mpsc::Receiver<serde_json::Value>) {
    let (url, asked) = server([answer]);
    let constrained = agents::ollama::ToolMode::Constrained;
    (agents::ollama("tiny").url(url).tools(constrained), asked)
}

/// Starts a server that gives these answers, one per request. Returns its address, and the receiver of the requests.
fn server(
    answers: impl IntoIterator<Item = &'static str>,
) -> (String, std::sync::mpsc::Receiver<serde_json::Value>) {
    use std::io::{BufRead, BufReader, Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (asked, questions) = std::sync::mpsc::channel();
    let answers: Vec<_> = answers.into_iter().collect();
    std::thread::spawn(move || {
        for answer in answers {
            let (stream, _) = listener.accept().unwrap();
            let mut request = BufReader::new(stream);
            let mut length = 0;
            loop {
                let mut line = String::new();
                request.read_line(&mut line).unwrap();
                if let Some(bytes) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            request.read_exact(&mut body).unwrap();
            // Some tests do not read the requests.
            let _ = asked.send(serde_json::from_slice(&body).unwrap());
            let message = serde_json::json!({
                "message": { "role": "assistant", "content": answer },
                "done": true,
                "done_reason": "stop",
            });
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
            let body = message.to_string();
            let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
            request.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    (address, questions)
}
