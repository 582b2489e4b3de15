//! Proxies and TLS. Both depend on the environment of the process, so these tests run this program in another process.

use crate::{HELLO, ask, server::*};
use agents_ollama::ollama;
use std::process::Command;

/// Sends the request of another test, in the process that the test started.
#[test]
#[ignore = "a process of the tests below"]
fn asks_from_another_process() {
    let Ok(url) = std::env::var("ASK") else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(std::env::var("PAUSED").is_ok())
        .build()
        .unwrap();
    match runtime.block_on(ask(&ollama("m").url(url))) {
        Ok(reply) => println!("answered: {}", reply.content),
        Err(error) => println!("failed: {error}"),
    }
}

/// Runs a request in a process with this environment, and returns its outcome.
async fn asked(url: &str, env: &[(&'static str, String)]) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([
        "--exact",
        "proxies_and_tls::asks_from_another_process",
        "--ignored",
        "--nocapture",
    ]);
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
        child.env_remove(name).env_remove(name.to_lowercase());
    }
    child.env("ASK", url).envs(env.iter().cloned());
    let output = tokio::task::spawn_blocking(move || child.output().unwrap());
    let told = String::from_utf8(output.await.unwrap().stdout).unwrap();
    let line = |line: &&str| line.starts_with("answered: ") || line.starts_with("failed: ");
    told.lines().find(line).expect(&told).to_owned()
}

fn first_line(seen: &Seen) -> &str {
    seen.head.lines().next().unwrap()
}

#[tokio::test]
async fn a_proxy_for_plain_http_gets_the_full_address() {
    let proxy = Server::plays([Answer::json(200, HELLO)]).await;
    let at = proxy.url.replace("://", "://me:hunter2@");
    let told = asked("gpu-box.invalid:8080", &[("HTTP_PROXY", at)]).await;
    assert_eq!(told, "answered: hello");
    let seen = proxy.seen();
    assert_eq!(
        first_line(&seen[0]),
        "POST http://gpu-box.invalid:8080/api/chat HTTP/1.1"
    );
    for header in [
        "proxy-authorization: Basic bWU6aHVudGVyMg==",
        "host: gpu-box.invalid:8080",
    ] {
        let head = &seen[0].head;
        assert!(head.lines().any(|line| line == header), "{header}: {head}");
    }
}

#[tokio::test]
async fn loopback_and_no_proxy_bypass_the_proxy() {
    let (proxy, server) = (
        Server::plays([Answer::json(500, "{}")]).await,
        Server::plays([Answer::json(200, HELLO)]).await,
    );
    let env = [("ALL_PROXY", proxy.url.clone())];
    assert_eq!(asked(&server.url, &env).await, "answered: hello");
    let env = [env[0].clone(), ("NO_PROXY", ".invalid".to_owned())];
    let told = asked("gpu-box.invalid:8080", &env).await;
    assert!(
        told.starts_with("failed: no server answers at http://gpu-box.invalid:8080"),
        "{told}"
    );
    assert!(proxy.seen().is_empty(), "{:?}", proxy.seen());
}

#[tokio::test]
async fn an_unsupported_proxy_is_refused_by_name() {
    let env = [("ALL_PROXY", "socks5://me:hunter2@127.0.0.1:9".to_owned())];
    assert_eq!(
        asked("gpu-box.invalid:8080", &env).await,
        "failed: the proxy socks5://127.0.0.1:9/ is none that this client speaks to: name one with `http://`, \
         or except the server with NO_PROXY"
    );
}

#[cfg(feature = "tls")]
mod tls {
    use super::*;
    use rustls::{ServerConfig, pki_types::PrivateKeyDer};
    use std::{path::PathBuf, sync::Arc};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
        net::{TcpListener, TcpStream},
    };
    use tokio_rustls::TlsAcceptor;

    /// Starts a server with a certificate for `gpu-box.invalid` and `localhost`; returns the certificate's file, the
    /// server and its port.
    async fn secured() -> (PathBuf, Server, u16) {
        let names = ["gpu-box.invalid".to_owned(), "localhost".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let file = std::env::temp_dir().join(format!("agents-ollama-{port}.pem"));
        std::fs::write(&file, made.cert.pem()).unwrap();
        let provider = rustls::crypto::aws_lc_rs::default_provider();
        let config = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![made.cert.der().clone()],
                PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap(),
            )
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let behind = Server::plays([Answer::json(200, HELLO)]).await;
        let to = behind.url.trim_start_matches("http://").to_owned();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (acceptor, to) = (acceptor.clone(), to.clone());
                tokio::spawn(async move {
                    let mut inner = TcpStream::connect(to).await.ok()?;
                    let mut outer = acceptor.accept(stream).await.ok()?;
                    copy_bidirectional(&mut outer, &mut inner).await.ok()
                });
            }
        });
        (file, behind, port)
    }

    #[tokio::test]
    async fn a_server_is_asked_over_tls_if_its_certificate_is_trusted() {
        let (file, server, port) = secured().await;
        let url = format!("https://localhost:{port}/ollama");
        let trusted = [("SSL_CERT_FILE", file.display().to_string())];
        assert_eq!(asked(&url, &trusted).await, "answered: hello");
        let seen = server.seen();
        assert_eq!(first_line(&seen[0]), "POST /ollama/api/chat HTTP/1.1");
        let head = &seen[0].head;
        assert!(head.contains(&format!("host: localhost:{port}")), "{head}");

        let (another, ..) = secured().await;
        let trusted = [("SSL_CERT_FILE", another.display().to_string())];
        let told = asked(&url, &trusted).await;
        assert!(
            told.starts_with("failed: ") && told.contains("invalid peer certificate"),
            "{told}"
        );
        assert_eq!(server.seen().len(), 1, "nothing is said to a stranger");
        std::fs::remove_file(file).unwrap();
        std::fs::remove_file(another).unwrap();
    }

    #[tokio::test]
    async fn a_tls_handshake_has_a_short_time_limit() {
        let (file, ..) = secured().await;
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", silent.local_addr().unwrap());
        let env = [
            ("PAUSED", "1".to_owned()),
            ("SSL_CERT_FILE", file.display().to_string()),
        ];
        let told = asked(&url, &env).await;
        assert!(
            told.starts_with(&format!(
                "failed: no server answers at {url} (deadline has elapsed)"
            )),
            "{told}"
        );
        std::fs::remove_file(file).unwrap();
    }

    /// Plain HTTP works although no certificates are found.
    #[tokio::test]
    async fn plain_http_works_without_certificates() {
        let server = Server::plays([Answer::json(200, HELLO)]).await;
        let nowhere = [
            ("SSL_CERT_FILE", "/nowhere/at-all.pem".to_owned()),
            ("SSL_CERT_DIR", "/nowhere".to_owned()),
        ];
        assert_eq!(asked(&server.url, &nowhere).await, "answered: hello");
        let told = asked("https://127.0.0.1:9", &nowhere).await;
        assert!(
            told.starts_with("failed: HTTPS cannot be set up here: "),
            "{told}"
        );
    }

    #[tokio::test]
    async fn a_tunnelled_request_is_hidden_from_the_proxy() {
        let (file, server, port) = secured().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = format!("http://me:hunter2@{}", listener.local_addr().unwrap());
        let connects = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                assert_ne!(stream.read_buf(&mut head).await.unwrap(), 0);
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            let mut on = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            tokio::spawn(async move { copy_bidirectional(&mut stream, &mut on).await });
            String::from_utf8(head).unwrap()
        });
        let env = [
            ("HTTPS_PROXY", proxy),
            ("SSL_CERT_FILE", file.display().to_string()),
        ];
        assert_eq!(
            asked("https://gpu-box.invalid", &env).await,
            "answered: hello"
        );
        let head = connects.await.unwrap();
        assert!(
            head.starts_with("CONNECT gpu-box.invalid:443 HTTP/1.1\r\n"),
            "{head}"
        );
        assert!(
            head.contains("Proxy-Authorization: Basic bWU6aHVudGVyMg=="),
            "{head}"
        );
        let seen = server.seen();
        assert_eq!(first_line(&seen[0]), "POST /api/chat HTTP/1.1");
        assert!(!seen[0].head.contains("hunter2"), "{}", seen[0].head);
        assert!(!seen[0].head.to_lowercase().contains("proxy"));
        std::fs::remove_file(file).unwrap();
    }
}
