use agents::{
    prelude::*,
    testing::{Script, ScriptedModel},
};

/// You whisper.
#[agent]
async fn whisper(text: String) -> String;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let model = ScriptedModel::new([Script::text("psst")]);
    let _ = Whisper.run("hello").model(model).await;
}
