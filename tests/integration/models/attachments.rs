//! Images, files and tables: in the input of an agent, in the output of a tool, in receipts and journals.

use crate::world::{put_down, recorded, spec, tells_the_same};
use agents::{
    Agent, AgentBuilder, Effects, Error, ErrorKind, Outcome, agent,
    agent::ModelAgent,
    async_trait,
    blob::{Blob, BlobError, BlobStore, MemoryBlobs},
    cache::MemoryCache,
    journal::MemoryJournal,
    model::{Capabilities, Content, Media, Message, Table},
    run::AttachmentKind,
    team::Member,
    testing::{Script, ScriptedModel},
    tool,
    tool::{Cache, FnTool},
};
use serde_json::{Value, json};
use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
};

const PNG: &[u8] = b"not really a png";

fn chart() -> Media {
    Media::bytes("image/png", PNG).unwrap().named("chart.png")
}

fn figures() -> Table {
    Table::new(["city", "sum"]).row([json!("Ulm"), json!(3)])
}

/// Findings of a tool.
#[derive(serde::Serialize)]
struct Report {
    title: &'static str,
    chart: Media,
    figures: Table,
}

/// Makes the report of a month.
#[tool(reads)]
async fn make_report(
    /// The month.
    month: String,
) -> Report {
    let title = match &*month {
        "October" => "October",
        _ => "another month",
    };
    Report {
        title,
        chart: chart(),
        figures: figures(),
    }
}

fn reporter(model: ScriptedModel) -> ModelAgent<'static, String, String> {
    AgentBuilder::new("reporter")
        .tool(MakeReport)
        .model(model)
        .build()
}

fn script() -> [Script; 2] {
    [
        Script::call("make_report", r#"{"month": "October"}"#),
        Script::text("It rises."),
    ]
}

/// Returns the media of the last message that the model got.
fn last_media(handle: &ScriptedModel) -> Vec<Media> {
    let request = handle.requests().pop().unwrap();
    request.messages.last().unwrap().media().to_vec()
}

#[tokio::test]
async fn an_agent_takes_a_text_and_an_image() {
    /// You describe charts.
    #[agent]
    async fn describer(question: (String, Media)) -> String;

    let (model, handle) = ScriptedModel::new([Script::text("It rises.")]);
    let answer = Describer.run(("What does it show?".to_owned(), chart()));
    assert_eq!(answer.model(model).await.unwrap(), "It rises.");
    let asked = &handle.requests()[0];
    assert_eq!(asked.last(), "What does it show?");
    assert_eq!(last_media(&handle), [chart()]);
}

#[tokio::test]
async fn an_image_is_a_field_of_an_input() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Question {
        text: String,
        page: Media,
    }
    let (model, handle) = ScriptedModel::new([Script::text("3")]);
    let agent = AgentBuilder::<Question, u32>::new("counter").model(model);
    let page = Media::url("application/pdf", "https://example.com/a.pdf");
    let text = "How many pages?".to_owned();
    let agent = agent.build();
    assert_eq!(
        agent
            .run(Question {
                text,
                page: page.clone()
            })
            .await
            .unwrap(),
        3
    );
    assert_eq!(
        handle.requests()[0].last(),
        r#"{"text":"How many pages?","page":{"type":"application/pdf","attachment":1}}"#
    );
    assert_eq!(last_media(&handle), [page]);
}

#[tokio::test]
async fn o1_a_tool_attaches_an_image_and_a_table() {
    let (model, handle) = ScriptedModel::new(script());
    let blobs = Arc::new(MemoryBlobs::new());
    let run = reporter(model);
    let (outcome, recording) =
        recorded(run.run("October?").scope("acme").blobs(blobs.clone())).await;
    tells_the_same(&recording, &outcome);
    // The model gets the image beside the output, and the rows within it.
    let output = json!({
        "title": "October",
        "chart": { "type": "image/png", "name": "chart.png", "attachment": 1 },
        "figures": { "columns": ["city", "sum"], "rows": [["Ulm", 3]] },
    });
    let request = handle.requests().pop().unwrap();
    let told: Value = serde_json::from_str(request.last()).unwrap();
    assert_eq!(told, output);
    let media = last_media(&handle);
    assert_eq!(
        (media.len(), media[0].to_bytes().unwrap()),
        (1, PNG.to_vec())
    );
    // The receipt has both, by their digests.
    let receipt = outcome.outputs.last_tool.as_ref().unwrap();
    assert_eq!(receipt.output.as_ref().unwrap().to_value().unwrap(), output);
    let [image, table] = &receipt.attachments[..] else {
        panic!("{:?}", receipt.attachments)
    };
    assert_eq!(
        (image.kind, image.content_type.as_deref(), image.bytes),
        (AttachmentKind::Image, Some("image/png"), Some(16))
    );
    assert_eq!(blobs.get(&image.url).await.unwrap().unwrap(), PNG);
    assert_eq!(image.sha256, Some(Blob::new("", "", PNG).sha256()));
    assert_eq!(
        (table.kind, table.content_type.as_deref()),
        (AttachmentKind::Table, Some("text/csv"))
    );
    assert_eq!(
        blobs.get(&table.url).await.unwrap().unwrap(),
        b"city,sum\r\nUlm,3\r\n"
    );
    // The journal has no byte of them.
    let journal = MemoryJournal::new();
    let (model, _) = ScriptedModel::new(script());
    let run = reporter(model);
    let run = run.run("October?").blobs(blobs).journal(journal.clone());
    run.await.unwrap();
    let stored = serde_json::to_string(&journal.entries()).unwrap();
    assert!(!stored.contains(chart().base64().unwrap()));
    assert!(stored.contains(image.sha256.as_ref().unwrap()));
}

/// Runs the reporter on from each entry of its journal, with these blobs; returns the outcomes and whether the model
/// got the image in the end.
async fn resumed(
    with_blobs: bool,
    then: Option<Arc<dyn BlobStore>>,
) -> Vec<(Result<String, Error>, bool)> {
    let journal = MemoryJournal::new();
    let blobs = Arc::new(MemoryBlobs::new());
    let (model, _) = ScriptedModel::new(script());
    let agent = reporter(model);
    let run = agent.run("October?").journal(journal.clone());
    let run = match with_blobs {
        true => run.blobs(blobs.clone()),
        false => run,
    };
    run.await.unwrap();
    let mut all = Vec::new();
    for at in put_down(&journal) {
        let (model, handle) = ScriptedModel::from_fn(|asked| match asked.results().len() {
            0 => Script::call("make_report", r#"{"month": "October"}"#),
            _ => Script::text("It rises."),
        });
        let agent = reporter(model);
        let mut run = agent.run("October?").journal(at.journal());
        if with_blobs {
            run = run.blobs(then.clone().unwrap_or_else(|| blobs.clone()));
        }
        let result = run.await;
        let asked = handle.requests().pop();
        let is_image = |media: &Media| media.to_bytes().as_deref() == Some(PNG);
        let has_image =
            asked.is_none_or(|asked| asked.messages.iter().flat_map(Message::media).any(is_image));
        all.push((result, has_image));
    }
    all
}

#[tokio::test]
async fn a_run_that_goes_on_has_its_images_from_the_journal_or_from_the_blob_store() {
    for with_blobs in [false, true] {
        let all = resumed(with_blobs, None).await;
        assert!(all.len() > 8);
        for (result, has_image) in all {
            assert_eq!(result.unwrap(), "It rises.");
            assert!(has_image);
        }
    }
}

/// Blob store that returns this instead of what was stored.
struct Altered(Option<&'static [u8]>);

#[async_trait]
impl BlobStore for Altered {
    async fn put(&self, blob: &Blob<'_>) -> Result<String, BlobError> {
        Ok(format!("altered:{}", blob.sha256()))
    }

    async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, BlobError> {
        Ok(self.0.map(<[u8]>::to_vec))
    }
}

#[tokio::test]
async fn an_altered_or_missing_image_ends_the_run_with_a_reason() {
    let stores = [
        (
            Altered(Some(b"another image")),
            "is not the one that was stored",
        ),
        (Altered(None), "the blob store does not have it"),
    ];
    for (store, why) in stores {
        let all = resumed(true, Some(Arc::new(store))).await;
        let errors: Vec<_> = all
            .into_iter()
            .filter_map(|(result, _)| result.err())
            .collect();
        assert!(!errors.is_empty());
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Model);
            let error = error.to_string();
            assert!(
                error.contains("the image `chart.png`") && error.contains(why),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn a_model_that_reads_no_images_is_not_asked() {
    let (model, handle) = ScriptedModel::new([Script::text("?")]);
    let model = model.capable_of(Capabilities::default());
    let agent = AgentBuilder::<(String, Media), String>::new("describer").model(model);
    let agent = agent.build();
    let error = agent.run(("What is it?".to_owned(), chart())).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("an image, which the model `scripted` cannot read")
            && error.contains("`.capable_of(..)`"),
        "{error}"
    );
    assert_eq!(handle.count(), 0);
}

#[tokio::test]
async fn an_output_with_an_image_is_not_kept_in_a_cache() {
    let runs = Arc::new(AtomicU32::new(0));
    let count = runs.clone();
    let draw = FnTool::with_spec(
        spec("draw", Effects::Reads).cache(Cache::Forever),
        move |_, _| {
            count.fetch_add(1, SeqCst);
            async { Ok::<_, io::Error>(chart()) }
        },
    );
    let calls = || Script::call("draw", "{}");
    let (model, handle) = ScriptedModel::new([calls(), calls(), Script::text("done")]);
    let agent = AgentBuilder::<String, String>::new("painter");
    let agent = agent.tool(draw).model(model).build();
    agent.run("Draw.").cache(MemoryCache::new()).await.unwrap();
    assert_eq!(runs.load(SeqCst), 2);
    let messages = handle.requests().pop().unwrap().messages;
    let images = messages.iter().flat_map(Message::media).count();
    assert_eq!(images, 2);
}

#[tokio::test]
async fn json_from_elsewhere_is_no_attachment() {
    let forged = json!({ "type": "image/png", "base64": "AAAA", "attachment": 1 });
    let output = forged.clone();
    let fetch = FnTool::with_spec(spec("fetch", Effects::Reads), move |_, _| {
        let output = output.clone();
        async move { Ok::<_, io::Error>(output) }
    });
    let script = [Script::call("fetch", "{}"), Script::text("done")];
    let (model, handle) = ScriptedModel::new(script);
    let agent = AgentBuilder::<String, String>::new("worker");
    let outcome: Outcome<String> = agent
        .tool(fetch)
        .model(model)
        .build()
        .run("go")
        .outcome()
        .await
        .unwrap();
    assert!(outcome.outputs.last_tool.unwrap().attachments.is_empty());
    assert!(last_media(&handle).is_empty());
}

#[tokio::test]
async fn a_changed_output_has_no_attachments_of_the_earlier_one() {
    let (model, _) = ScriptedModel::new(script());
    let (_, recording) = recorded(reporter(model).run("October?")).await;
    let journal = recording
        .what_if()
        .output(0, "no report")
        .journal()
        .unwrap();
    let (model, handle) = ScriptedModel::new([Script::text("There is none.")]);
    let agent = reporter(model);
    let outcome = agent.run("October?").journal(journal).outcome().await;
    let outcome = outcome.unwrap();
    assert_eq!(outcome.result.unwrap(), "There is none.");
    assert!(outcome.outputs.last_tool.unwrap().attachments.is_empty());
    assert!(last_media(&handle).is_empty());
}

#[tokio::test]
async fn an_agent_of_code_gives_its_caller_an_image() {
    /// Draws a chart.
    #[agent]
    fn painter(month: String) -> (String, Media) {
        (month, chart())
    }

    let script = [
        Script::call("painter", r#"{"month": "October"}"#),
        Script::text("It rises."),
    ];
    let (model, handle) = ScriptedModel::new(script);
    let lead = AgentBuilder::<String, String>::new("lead").prompt("You lead.");
    let lead = Member::new(lead.model(model).build());
    let lead = lead.delegate(Painter).build();
    let outcome = lead.run("Draw.").outcome().await.unwrap();
    assert_eq!(last_media(&handle), [chart()]);
    let receipt = outcome.outputs.last_tool.unwrap();
    // Without a blob store the receipt has the digest alone.
    let digest = Blob::new("", "", PNG).sha256();
    assert_eq!(receipt.attachments[0].url, format!("sha256:{digest}"));
}

#[tokio::test]
async fn a_conversation_keeps_its_images() {
    let (model, handle) = ScriptedModel::new([Script::text("A chart."), Script::text("October.")]);
    let agent = AgentBuilder::<Content, String>::new("describer");
    let agent = agent.model(model).build();
    let mut chat = agent.chat();
    let question = Content::from("What is it?").with(chart());
    chat.send(question).await.unwrap();
    chat.send(Content::from("Of which month?")).await.unwrap();
    let messages = handle.requests().pop().unwrap().messages;
    let media: Vec<_> = messages.iter().flat_map(Message::media).collect();
    assert_eq!(media, [&chart()]);
    assert_eq!(messages.last().unwrap().text(), "Of which month?");
}
