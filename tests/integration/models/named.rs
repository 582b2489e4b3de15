//! Models that are named by a text.

use agents::{ErrorKind, model_named};

#[test]
fn a_name_is_the_provider_and_its_model() {
    for (name, id) in [
        ("anthropic:claude-sonnet-5", "anthropic/claude-sonnet-5"),
        ("gemini:gemini-3-flash", "gemini/gemini-3-flash"),
        ("ollama:qwen3:4b", "ollama/qwen3:4b"),
        (" openai:gpt-6-mini\n", "openai/gpt-6-mini"),
        ("ollama:qwen3:4b@http://gpu-1:11434", "ollama/qwen3:4b"),
        (
            "openai:qwen/qwen3-8b@http://localhost:8000/v1",
            "openai/qwen/qwen3-8b",
        ),
        // An `@` alone belongs to the name.
        ("openai:model@2026-10", "openai/model@2026-10"),
    ] {
        assert_eq!(model_named(name).unwrap().id(), id);
    }
}

#[tokio::test]
async fn the_address_behind_the_name_is_asked() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let accepted = tokio::spawn(async move {
        use tokio::io::AsyncReadExt;
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = vec![0; 4096];
        let read = stream.read(&mut bytes).await.unwrap();
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    });
    let model = model_named(format!("openai:local@{url}")).unwrap();
    let history = agents::model::History::new();
    let asked = model.chat(agents::model::Request::new(&history));
    asked.await.unwrap_err();
    let head = accepted.await.unwrap();
    assert!(head.starts_with("POST /v1/chat/completions"), "{head}");
    // The key of the environment is for the provider alone.
    assert!(!head.to_lowercase().contains("authorization"), "{head}");
}

#[test]
fn a_name_that_does_not_fit_is_refused_with_what_to_write() {
    for (name, why) in [
        ("claude-sonnet-5", "write `ollama:claude-sonnet-5`"),
        ("", "does not name a provider and its model"),
        ("anthropic:", "write `anthropic:MODEL`"),
        ("openai:@http://localhost:8000", "write `openai:MODEL`"),
        (
            "mistral:large",
            "`mistral` of `mistral:large` is no provider",
        ),
        (
            "OpenAI:gpt-6",
            "they are `anthropic`, `gemini`, `ollama`, `openai`",
        ),
    ] {
        let error = model_named(name).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Build);
        assert!(error.to_string().contains(why), "{error}");
    }
}
