//! An eval about to run, and its cases at work.

use super::{
    Case, CaseReport, CaseScore, Judged, Report, Score, Spent, Tried, Verdict,
    judge::judge,
    models::Models,
    score::{exact, fits},
    wording,
};
use agents_core::{Agent, Json, Outcome, agent::Run, reader::Schema, run::Timestamp};
use futures_util::{
    FutureExt, StreamExt,
    future::{BoxFuture, ready},
    stream,
};
use serde::Serialize;
use serde_json::Value;
use std::{
    any::Any, collections::HashSet, fmt, future::IntoFuture, panic::AssertUnwindSafe,
    path::PathBuf, time::Instant,
};

/// Number of cases that are tried at once, unless [`at_once`](Eval::at_once) sets another.
const AT_ONCE: usize = 4;

/// Eval that is about to start: give it scorers, then await it for its [`Report`].
///
/// Without a scorer, a case passes if its run gives an answer. A case with the name of an earlier one, in upper or
/// lower case, fails. A case has the limits of its [`Run`]: a run with a [time limit](agents_core::Budget::time) ends even if
/// its model does not answer.
///
/// A [predicate](Eval::predicate) sees the output itself. The other scorers see it without secrets.
#[must_use = "an eval does nothing until it is awaited"]
pub struct Eval<'a, A: Agent, E> {
    name: String,
    cases: &'a [Case<A::In, E>],
    start: Box<dyn Fn(A::In) -> Run<'a, A> + Send + Sync + 'a>,
    scorers: Vec<(String, Scorer<'a, A, E>)>,
    at_once: usize,
    models: Models,
}

/// Way to score an output: a comparison, a schema, a function or a judge.
enum Scorer<'a, A: Agent, E> {
    Exact,
    Schema(Schema),
    Predicate(Predicate<'a, A, E>),
    Judge(Ask<'a>),
}

type Predicate<'a, A, E> =
    Box<dyn Fn(&Tried<'_, <A as Agent>::In, <A as Agent>::Out, E>) -> Score + Send + Sync + 'a>;
/// Function that asks an agent to judge an answer; the text is the name of its recording.
type Ask<'a> = Box<dyn Fn(Judged, Models, String) -> Judging<'a> + Send + Sync + 'a>;
type Judging<'a> = BoxFuture<'a, (Score, Spent)>;

impl<'a, A: Agent, E> Eval<'a, A, E> {
    /// Creates an eval of these cases. `start` makes the run for the input of a case.
    pub fn new(
        name: impl Into<String>,
        cases: &'a [Case<A::In, E>],
        start: impl Fn(A::In) -> Run<'a, A> + Send + Sync + 'a,
    ) -> Self {
        Eval {
            name: name.into(),
            cases,
            start: Box::new(start),
            scorers: Vec::new(),
            at_once: AT_ONCE,
            models: Models::Live,
        }
    }

    /// Adds the scorer `exact`: the output and the expectation of the case are equal, both as JSON.
    pub fn exact(self) -> Self {
        self.scorer("exact", Scorer::Exact)
    }

    /// Adds the scorer `schema`: the output fits this JSON schema. An output that is a text may also be JSON that fits.
    ///
    /// ```
    /// use agents::{evals::{Case, Eval}, prelude::*};
    /// # use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let (model, _) = ScriptedModel::new([Script::text(r#"{"capital": "Oslo"}"#), Script::text("It is Stockholm.")]);
    /// # let geographer = AgentBuilder::<String, String>::new("geographer").model(model).build();
    /// let schema = serde_json::json!({"type": "object", "required": ["capital"]});
    /// // No answer is expected; the form of the answers is.
    /// let cases = [Case::new("norway", "Norway", ()), Case::new("sweden", "Sweden", ())];
    /// let report = Eval::new("form", &cases, |country| geographer.run(country)).schema(&schema).at_once(1).await;
    /// assert_eq!(report.passed(), 1);
    /// assert!(!report.cases[1].passed);
    /// # }
    /// ```
    pub fn schema(self, schema: &Value) -> Self {
        let schema = Schema::new(schema);
        self.scorer("schema", Scorer::Schema(schema))
    }

    /// Adds a scorer of yours, which returns a `bool` or a [`Score`].
    ///
    /// ```
    /// use agents::{evals::{Case, Eval, Score}, prelude::*};
    /// # use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let (model, _) = ScriptedModel::always(Script::text("an elephant"));
    /// # let zoologist = AgentBuilder::<String, String>::new("zoologist").model(model).build();
    /// // The expectation is of any type: here, the greatest length.
    /// let cases = [Case::new("largest", "Which is the largest land animal?", 20_usize)];
    /// let report = Eval::new("animals", &cases, |question| zoologist.run(question))
    ///     .predicate("short", |tried| match tried.output.len() {
    ///         length if length > tried.case.expected => Score::fail(format!("{length} bytes")),
    ///         _ => Score::pass(),
    ///     })
    ///     .predicate("one request", |tried| tried.outcome.usage.requests == 1)
    ///     .await;
    /// assert_eq!(report.passed(), 1);
    /// # }
    /// ```
    pub fn predicate<S: Into<Score>>(
        self,
        name: impl Into<String>,
        score: impl Fn(&Tried<'_, A::In, A::Out, E>) -> S + Send + Sync + 'a,
    ) -> Self {
        let score = Box::new(move |tried: &Tried<'_, A::In, A::Out, E>| score(tried).into());
        self.scorer(name, Scorer::Predicate(score))
    }

    /// Adds an agent as a scorer. `start` makes its run.
    ///
    /// ```
    /// use agents::{evals::{Case, Eval, Judged, Verdict}, prelude::*};
    /// # use agents::testing::{Script, ScriptedModel};
    ///
    /// /// You judge whether an answer means what is expected. Other words are fine.
    /// #[agent]
    /// async fn examiner(answer: Judged) -> Verdict;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let (model, _) = ScriptedModel::always(Script::text("It is Oslo."));
    /// # let (large, _) = ScriptedModel::always(Script::text(r#"{"reason": "It names Oslo.", "passes": true}"#));
    /// # let geographer = AgentBuilder::<String, String>::new("geographer").model(model).build();
    ///
    /// let cases = [Case::new("norway", "What is the capital of Norway?", "Oslo".to_owned())];
    /// let report = Eval::new("capitals", &cases, |question| geographer.run(question))
    ///     .judge("meaning", |answer| Examiner.run(answer).model(large.clone()))
    ///     .await;
    /// assert_eq!(report.cases[0].scores[0].score.note.as_deref(), Some("It names Oslo."));
    /// # }
    /// ```
    pub fn judge<J: Agent<In = Judged, Out = Verdict> + 'a>(
        self,
        name: impl Into<String>,
        start: impl Fn(Judged) -> Run<'a, J> + Send + Sync + 'a,
    ) -> Self {
        let ask = move |judged, models: Models, recording: String| {
            let run = start(judged);
            async move { judge(run, &models, &recording).await }.boxed()
        };
        self.scorer(name, Scorer::Judge(Box::new(ask)))
    }

    /// Sets the number of cases that are tried at once; 4 by default, and at least 1.
    pub fn at_once(mut self, cases: usize) -> Self {
        self.at_once = cases.max(1);
        self
    }

    /// Records the replies of the models in this folder, a file for each case, and one for each of its judges. A
    /// missing folder is created; earlier recordings are replaced.
    ///
    /// For the recordings, the run of each case and of each judge gets a [journal](Run::journal).
    ///
    /// ```
    /// use agents::{evals::{Case, Eval}, prelude::*};
    /// # use agents::testing::{Script, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let (model, asked) = ScriptedModel::new([Script::text("Oslo")]);
    /// # let geographer = AgentBuilder::<String, String>::new("geographer").model(model).build();
    /// # let folder = std::env::temp_dir().join(format!("agents-doc-eval-{}", std::process::id()));
    /// let cases = [Case::new("norway", "Norway", "Oslo")];
    /// let eval = || Eval::new("capitals", &cases, |country| geographer.run(country)).exact();
    /// eval().record(&folder).await;
    ///
    /// // In CI, where no model is at hand:
    /// let report = eval().replay(&folder).await;
    /// assert_eq!(report.passed(), 1);
    /// # assert_eq!(asked.count(), 1);
    /// # std::fs::remove_dir_all(folder)
    /// # }
    /// ```
    pub fn record(mut self, folder: impl Into<PathBuf>) -> Self {
        self.models = Models::Record(folder.into());
        self
    }

    /// Takes the replies of the models from the recordings in this folder. Tools run, and no model is asked. A case
    /// that makes another request than the recorded one fails, and its error shows the difference.
    pub fn replay(mut self, folder: impl Into<PathBuf>) -> Self {
        self.models = Models::Replay(folder.into());
        self
    }

    /// Adds a scorer. If another one has the name already, a number makes the names differ.
    fn scorer(mut self, name: impl Into<String>, scorer: Scorer<'a, A, E>) -> Self {
        let name = name.into();
        let is_taken = |name: &str| self.scorers.iter().any(|(other, _)| other == name);
        let mut own = name.clone();
        let mut number = 1;
        while is_taken(&own) {
            number += 1;
            own = format!("{name} {number}");
        }
        self.scorers.push((own, scorer));
        self
    }
}

impl<'a, A: Agent + 'a, E> Eval<'a, A, E>
where
    A::In: Clone + Sync,
    A::Out: Sync,
    E: Serialize + Send + Sync,
{
    async fn run(self) -> Report {
        let at = Timestamp::now();
        let mut names = HashSet::new();
        let tried = self.cases.iter().map(|case| {
            match names.insert(case.name.to_lowercase()) {
                true => self.guarded(case).boxed(),
                // Its recording would be that of the other one, and a difference could not tell them apart.
                false => ready(CaseReport::failed(&case.name, wording::NAME_TAKEN)).boxed(),
            }
        });
        // Collected before: a stream of borrowed futures that is polled as it is made is no `Send` future.
        let tried: Vec<_> = tried.collect();
        let cases = stream::iter(tried).buffered(self.at_once).collect().await;
        Report::new(self.name, at, cases)
    }

    /// Tries a case, and returns its result. A panic is a result as well.
    async fn guarded(&self, case: &Case<A::In, E>) -> CaseReport {
        let began = Instant::now();
        let mut report = CaseReport::new(&case.name);
        let tried = AssertUnwindSafe(self.try_case(case, &mut report)).catch_unwind();
        let tried = tried.await.unwrap_or_else(|panic| Err(caught(panic)));
        report.error = tried.err();
        report.passed =
            report.error.is_none() && report.scores.iter().all(|score| score.score.passed);
        report.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        report
    }

    async fn try_case(&self, case: &Case<A::In, E>, report: &mut CaseReport) -> Result<(), String> {
        let run = (self.start)(case.input.clone());
        let outcome = self.models.outcome(run, &case.name).await?;
        report.spent = Spent::of(&outcome);
        report.calls = outcome.outputs.receipts().count();
        let output = match &outcome.result {
            Ok(output) => output,
            Err(error) => return Err(wording::failed(error.kind(), error)),
        };
        let shown = shown(&outcome);
        report.output = Json::of(&shown).ok();
        for (name, scorer) in &self.scorers {
            let score = match scorer {
                Scorer::Exact => exact(&value(&case.expected)?, &shown),
                Scorer::Schema(schema) => fits(schema, &shown),
                Scorer::Predicate(score) => score(&Tried {
                    case,
                    output,
                    outcome: &outcome,
                }),
                Scorer::Judge(ask) => {
                    let judged = Judged {
                        input: value(&case.input)?,
                        expected: value(&case.expected)?,
                        output: shown.clone(),
                    };
                    let recording = format!("{}+{name}", case.name);
                    let (score, spent) = ask(judged, self.models.clone(), recording).await;
                    report.judging += spent;
                    score
                }
            };
            report.scores.push(CaseScore {
                by: name.clone(),
                score,
            });
        }
        Ok(())
    }
}

/// Returns the answer of a run as data, without secrets.
fn shown<T>(outcome: &Outcome<T>) -> Value {
    let mut outcome = serde_json::to_value(outcome).unwrap_or_default();
    outcome["result"].take()
}

fn value<T: Serialize>(value: &T) -> Result<Value, String> {
    serde_json::to_value(value).map_err(|error| error.to_string())
}

/// Returns the message of a caught panic. A payload that is no text is never dropped, because it may panic when it is.
fn caught(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    match text.map(wording::panicked) {
        Some(message) => message,
        None => {
            std::mem::forget(panic);
            wording::panicked("it did not say why")
        }
    }
}

impl<'a, A: Agent + 'a, E> IntoFuture for Eval<'a, A, E>
where
    A::In: Clone + Sync,
    A::Out: Sync,
    E: Serialize + Send + Sync,
{
    type Output = Report;
    type IntoFuture = BoxFuture<'a, Report>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<A: Agent, E> fmt::Debug for Eval<'_, A, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scorers = self.scorers.iter();
        f.debug_struct("Eval")
            .field("name", &self.name)
            .field("cases", &self.cases.len())
            .field(
                "scorers",
                &scorers.map(|(name, _)| name).collect::<Vec<_>>(),
            )
            .field("at_once", &self.at_once)
            .field("models", &self.models)
            .finish()
    }
}
