//! Loop of one agent: the next action is looked up, carried out, and added as a fact.

use super::{
    answer::{self, Settled},
    attach,
    background::{BackgroundCalls, Turns},
    list, model,
    receipt::Leaving,
    wording,
};
use crate::{
    Error, ErrorKind,
    context::{Earlier, RunContext, Stopwatch},
    definition::{AgentDefinition, Answer, Validators},
    engine::climb::given,
    journal::{Fact, Frame, Next},
    model::{Content, Message},
    observe::spans,
    run::{Limit, Steering},
    shared::Shared,
    tool::ToolSpec,
};
use serde_json::Value;
use std::time::Duration;
use tracing::Instrument;

/// End of the work of a model-driven agent: its own answer, or a hand-off.
pub(crate) enum Driven<O> {
    /// The agent has answered with this output, and has not handed the conversation to another agent.
    Answer(O),
    /// The agent of this name answers instead, since the conversation was handed to it.
    HandedOff(Box<str>),
}

/// Drives a model-driven agent from its task to its answer: turn after turn, with the calls of each reply.
pub(crate) async fn drive<O>(
    definition: &AgentDefinition<'_>,
    answer: &Answer<O>,
    validators: &Validators<'_, O>,
    cx: &RunContext,
    task: Content,
) -> Result<Driven<O>, Error> {
    let own = fitted(definition, cx);
    let definition = own.as_ref().unwrap_or(definition);
    cx.node.bound(&definition.budget);
    if let Some(passed) = cx.node.too_deep() {
        match cx.exceed(passed).await {}
    }
    // Agents that run in this one's tools use the same model unless they bring their own.
    let time = definition.budget.time;
    let watch = time.map(|time| Stopwatch::start(cx.node.left_of(time), cx.watch().cloned()));
    let cx = &cx.driven(
        definition.own_model(&cx.root.settings).as_ref(),
        watch.as_ref(),
    );
    let watch = watch.as_deref();
    let listed = Box::pin(list::listed(definition, cx));
    let listed = within(cx, watch, time, listed).await?;
    let definition = listed.as_ref().unwrap_or(definition);
    let searchable = definition.searchable();
    let definition = searchable.as_ref().unwrap_or(definition);
    definition
        .tools
        .check()
        .map_err(|defect| Error::new(ErrorKind::Build, defect))?;
    if cx.node.frame(Frame::is_silent) {
        let prompt = Box::pin(definition.prompt.read(&definition.name, cx));
        let prompt = within(cx, watch, time, prompt).await?;
        let Earlier {
            history,
            turns,
            is_said,
            ..
        } = cx.earlier();
        let task = match is_said {
            true => None,
            false if task.media.is_empty() || cx.root.settings.executor.blobs.is_none() => {
                Some(task)
            }
            false => Some(Box::pin(attach::kept(cx, task)).await),
        };
        cx.node.add(Fact::Said {
            system: system(prompt, answer.schema()),
            said: history,
            before: turns,
            task,
            choosing: false,
            part: is_part(cx),
        });
    }
    if cx.node.frame(|frame| frame.given.is_some()) {
        Box::pin(given(cx)).await?;
    }
    // What a stored run lacks to go on is known before its next call is carried out.
    if cx.node.frame(|frame| frame.model.is_some()) {
        Box::pin(model::driving(definition, cx)).await?;
    }
    let span = spans::agent(definition, cx, answer.schema());
    // Declared before the work, so that all work within it is closed first.
    let leaving = Leaving::driven(cx, definition);
    let turns = Turns::of(cx);
    // On the heap, as are its parts: agents that run each other would fill the stack.
    let work = Box::pin(async {
        loop {
            paused(cx).await;
            cx.find_out();
            if let Some(replay) = &cx.root.settings.replay {
                replay.goes_on();
            }
            match cx.node.frame(|frame| frame.next(&definition.budget)) {
                Next::Chat { turn, .. } if cx.owes_results(turn) => {
                    turns.one_came_back().await;
                }
                Next::Chat { turn, must_fit } => {
                    instruct(definition, cx, turn);
                    let offering = offering(definition, cx);
                    let definition = offering.as_ref().unwrap_or(definition);
                    model::ask(definition, cx, turn, answer.schema(), must_fit).await?;
                }
                Next::Calls => super::calls(definition, cx).await,
                Next::Background => turns.one_came_back().await,
                Next::HandOff(to) => return Ok(Driven::HandedOff(to)),
                Next::Answer => {
                    match Box::pin(answer::settle(definition, answer, validators, cx)).await? {
                        Settled::Value(value) => {
                            judge(definition, cx, true);
                            return Ok(Driven::Answer(value));
                        }
                        Settled::TakenOver => {}
                        Settled::Refused(reason) => {
                            judge(definition, cx, false);
                            let is_text = answer.schema().is_none();
                            cx.node.add(Fact::Refused { reason, is_text });
                        }
                    }
                }
                Next::Stop(limit) => match cx.exceed(cx.node.passed(limit)).await {},
                Next::Declined { why } => {
                    judge(definition, cx, false);
                    return Err(model::declined(definition, &why));
                }
                Next::GiveUp { reason, limit } => {
                    return Err(unusable(definition, &reason, limit));
                }
            }
        }
    });
    let background = BackgroundCalls::of(definition, cx, &turns);
    let work = async {
        match background {
            None => work.await,
            Some(background) => background.beside(work).await,
        }
    };
    let work = work.instrument(span.clone());
    let result = within(cx, watch, time, work).await;
    spans::worked(&span, &result);
    if result.is_ok() {
        leaving.answered();
    }
    result
}

/// Tells the source of models for purposes whether an answer fits. An answer counts as unfit if no repair could mend
/// it, or if the model declined to answer.
fn judge(definition: &AgentDefinition<'_>, cx: &RunContext, fits: bool) {
    let purposes = cx.root.settings.purposes.as_ref();
    if let (Some(purpose), Some(purposes)) = (&definition.purpose, purposes) {
        purposes.judged(cx.run_id(), purpose, fits);
    }
}

/// Waits while a person has paused the run, or the run is about to be put down. The agent's time stands still meanwhile.
pub(crate) async fn paused(cx: &RunContext) {
    cx.until_put_down().await;
    if let Some(steering) = cx
        .root
        .settings
        .steering
        .as_ref()
        .filter(|one| one.is_paused())
    {
        let _still = cx.watch().map(Shared::stand_still);
        steering.going().await;
    }
}

/// Returns `true` if the agent here is told people's instructions to the run, and is not the agent that was run: a part
/// of a composition, or an agent that took over.
pub(crate) fn is_part(cx: &RunContext) -> bool {
    cx.is_steered() && cx.node.depth() > 0
}

/// Tells the agent here what people have said to the run since the last request: if it answers for the run, or is a part
/// of the composition that was run. The other parts are told as well (`Frame::owed`). A model that is to choose a
/// skill is told later.
fn instruct(definition: &AgentDefinition<'_>, cx: &RunContext, turn: u32) {
    let settings = &cx.root.settings;
    if !cx.is_steered() || !definition.open.is_empty() {
        return;
    }
    let (told, new) = match (&settings.replay, &settings.steering) {
        (Some(replay), _) => {
            let agent = cx.node.path().to_string();
            (replay.instructions(&agent, turn), Vec::new())
        }
        (None, steering) => (
            cx.node.frame(|frame| frame.owed.clone()),
            steering
                .as_ref()
                .map(Steering::left_over)
                .unwrap_or_default(),
        ),
    };
    for instruction in told {
        cx.node.add(Fact::Instructed(instruction));
    }
    for instruction in new {
        // Whoever gives the instructions of a stored run gives all of them again when the run goes on.
        if !cx.node.machine().look(|state| state.knows(&instruction)) {
            cx.node.add(Fact::Instructed(instruction));
        }
    }
}

/// Carries out work of the agent within the agent's time.
async fn within<T>(
    cx: &RunContext,
    watch: Option<&Stopwatch>,
    time: Option<Duration>,
    work: impl Future<Output = T>,
) -> T {
    tokio::select! {
        biased;
        done = work => done,
        () = Stopwatch::over(watch) => {
            let limit = Limit::Time(time.unwrap_or_default());
            match cx.exceed(cx.node.passed(limit)).await {}
        }
    }
}

/// Returns the agent's definition as changed by its place in a team, by a repair or by the run's bounds; `None` if
/// nothing changes it.
fn fitted<'a>(definition: &AgentDefinition<'a>, cx: &RunContext) -> Option<AgentDefinition<'a>> {
    let mut own = cx.place().map(|place| definition.placed(place));
    if let Some(scope) = cx.repair() {
        own = Some(own.as_ref().unwrap_or(definition).with_tools(scope.tools()));
    }
    if let Some(run) = &cx.root.settings.budget {
        own = Some(own.as_ref().unwrap_or(definition).within(run));
    }
    own
}

/// Returns the definition without the tools that a policy of the run withholds, and with the deferred tools that the
/// conversation has loaded; `None` if no policy withholds a tool, and none is deferred.
fn offering<'a>(definition: &AgentDefinition<'a>, cx: &RunContext) -> Option<AgentDefinition<'a>> {
    let policies = &cx.root.settings.executor.policies;
    let withheld = |spec: &ToolSpec| policies.withhold(spec);
    let withholds = !policies.is_empty() && definition.tools.specs().any(withheld);
    let defers = definition.tools.defers_any();
    if !withholds && !defers {
        return None;
    }
    let mut own = definition.clone();
    if withholds {
        own.tools = own.tools.only(|spec| !withheld(spec));
    }
    if defers {
        let history = cx.node.frame(|frame| frame.history.clone());
        let results = history
            .messages()
            .iter()
            .filter_map(|message| match message {
                Message::Tool { name, content, .. } => Some((&**name, &**content)),
                _ => None,
            });
        own.tools = own.tools.with_loaded(results);
    }
    Some(own)
}

/// Returns the prompt, followed by the schema of the answer if the answer is not plain text.
fn system(prompt: String, schema: Option<&Value>) -> String {
    match schema {
        None => prompt,
        Some(schema) => wording::answer_by_schema(&prompt, schema),
    }
}

fn unusable(definition: &AgentDefinition<'_>, reason: &str, limit: Limit) -> Error {
    Error::new(
        ErrorKind::InvalidOutput,
        wording::unusable_answer(reason, &limit),
    )
    .context(wording::of_agent(&definition.name))
}
