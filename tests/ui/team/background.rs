use agents::prelude::*;

/// You look things up.
#[agent]
async fn researcher(question: String) -> String;

/// You draw.
#[agent]
async fn illustrator(subject: String) -> String;

/// You write.
#[agent]
async fn editor(subject: String) -> String;

fn main() {
    let _ = structure!(Editor.background().delegates(
        Researcher.background(true),
        Illustrator.background().background_until_answer(),
    ));
    let _ = structure!(Editor.delegates(Researcher.backgroud()));
}
