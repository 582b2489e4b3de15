//! Models that are named by a text.

use agents::{ErrorKind, model_named};
use agents_http::testing::{Answer, Server};

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
        // A version belongs to the name.
        ("openai:model@2026-10", "openai/model@2026-10"),
    ] {
        assert_eq!(model_named(name).unwrap().id(), id);
    }
}

#[tokio::test]
async fn the_address_behind_the_name_is_asked() {
    let server = Server::plays([Answer::json(400, "{}")]).await;
    let url = format!("{}/v1", server.url);
    let model = model_named(format!("openai:local@{url}")).unwrap();
    let history = agents::model::History::new();
    let asked = model.chat(agents::model::Request::new(&history));
    asked.await.unwrap_err();
    let head = &server.seen()[0].head;
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
        // Without its scheme, an address would be a name for the provider's own server.
        (
            "openai:qwen@127.0.0.1:8000/v1",
            "write `openai:qwen@http://..`",
        ),
        (
            "ollama:qwen3:4b@gpu-1:11434",
            "write `ollama:qwen3:4b@http://..`",
        ),
        ("openai:qwen@localhost", "write `openai:qwen@http://..`"),
        (
            "openai:qwen@ftp://localhost",
            "write `openai:qwen@http://..`",
        ),
        // No error shows the password of an address.
        (
            "mistral:large@https://ada:hunter2@host",
            "`mistral` of `mistral:large` is no provider",
        ),
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
