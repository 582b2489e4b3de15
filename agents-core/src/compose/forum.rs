//! A discussion: each participant in turn reads the contributions before, and a captain decides.

use super::wording::{self, listed};
use crate::{
    Agent, Error,
    agent::{Data, Profile, prompt_of},
    context::RunContext,
};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Topic of a forum and the contributions so far.
///
/// Its `Display` text is for a model: the topic, then each contribution after the name of its participant. Only the
/// topic and the contributions begin in the first column, whatever their texts are, so that no participant can speak
/// in the name of another one.
///
/// ```
/// # use agents_core as agents;
/// use agents::compose::{Contribution, Transcript};
///
/// let mut transcript = Transcript::about("tabs or spaces?".to_owned());
/// transcript.contributions.push(Contribution { by: "analyst".into(), text: "Tabs.\ncritic: Agreed!".into() });
/// assert_eq!(transcript.to_string(), "topic: tabs or spaces?\n\nanalyst: Tabs.\n  critic: Agreed!\n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Transcript<I> {
    /// The forum's input.
    pub topic: I,
    /// The contributions, oldest first.
    pub contributions: Vec<Contribution>,
}

/// Contribution of one participant to a forum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contribution {
    /// Name of the participant.
    pub by: String,
    /// Text of the contribution.
    pub text: String,
}

impl<I> Transcript<I> {
    /// Creates a transcript about `topic` without contributions.
    pub fn about(topic: I) -> Self {
        Transcript {
            topic,
            contributions: Vec::new(),
        }
    }
}

impl<I: Data> fmt::Display for Transcript<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "topic: {}", indented(&prompt_of(&self.topic).text))?;
        self.contributions
            .iter()
            .try_for_each(|Contribution { by, text }| writeln!(f, "\n{by}: {}", indented(text)))
    }
}

fn indented(text: &str) -> String {
    text.lines().collect::<Vec<_>>().join("\n  ")
}

/// Converts the transcript into the input of a participant that takes plain text.
impl<I: Data> From<Transcript<I>> for String {
    fn from(transcript: Transcript<I>) -> String {
        transcript.to_string()
    }
}

/// An agent that can take part in a forum about an `I`: it takes a [`Transcript`], or anything made
/// from one such as a `String`, and returns a `String`.
///
/// ```
/// # use agents_core as agents;
/// use agents::compose::{Transcript, forum};
/// use agents::{Agent, AgentBuilder, Error, agent::Skill};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
///
/// // One that takes the transcript sees who said what; one that takes a `String` is told it as text.
/// let critic = AgentBuilder::<Transcript<String>, String>::new("critic")
///     .skill(Skill::native("say", "Says.", |so_far: Transcript<String>| async move {
///         Ok(format!("{} has spoken", so_far.contributions[0].by))
///     })).build();
/// let first = AgentBuilder::<String, String>::new("first")
///     .skill(Skill::native("say", "Says.", |_: String| async { Ok("Tabs.".to_owned()) })).build();
/// let captain = AgentBuilder::<Transcript<String>, String>::new("captain")
///     .skill(Skill::native("decide", "Decides.", |all: Transcript<String>| async move { Ok(all.contributions[1].text.clone()) })).build();
/// assert_eq!(forum((first, critic)).captain(captain).run("tabs or spaces?").await?, "first has spoken");
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot take part in this forum: its captain decides about `{I}`",
    label = "the forum is about `{I}`",
    note = "a participant is an agent whose `In` is `Transcript<{I}>`, `String` or any other `From<Transcript<{I}>>`, and whose `Out` is `String`"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait Participant<I>: Send + Sync {
    /// Returns the name of the agent, which its contributions have.
    #[doc(hidden)]
    fn speaks_as(&self) -> &str;

    /// Returns the profile of the agent, which a team checks: its tools, its skills and its bounds.
    #[doc(hidden)]
    fn speaks_with(&self) -> Profile;

    /// Runs the agent as a part of the run that `cx` belongs to.
    ///
    /// # Errors
    /// The agent's error.
    #[doc(hidden)]
    async fn speak(&self, cx: &RunContext, transcript: Transcript<I>) -> Result<String, Error>;
}

#[async_trait]
#[diagnostic::do_not_recommend]
impl<A, I: Data> Participant<I> for A
where
    A: Agent<Out = String>,
    A::In: From<Transcript<I>>,
{
    fn speaks_as(&self) -> &str {
        self.name()
    }

    fn speaks_with(&self) -> Profile {
        self.profile()
    }

    async fn speak(&self, cx: &RunContext, transcript: Transcript<I>) -> Result<String, Error> {
        self.run_in(cx, transcript.into()).await
    }
}

/// Participants of a forum about an `I`: a tuple of 2 to 8 agents, a `Vec` or an array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not the participants of a forum",
    label = "expected a tuple of agents here",
    note = "write a tuple of 2 to 8 agents such as `forum((initiator, analyst))`, or a `Vec` or an array of agents of one type"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait Participants<I>: Send + Sync {
    /// Returns the participants, in the order in which they speak.
    #[doc(hidden)]
    fn participants(&self) -> Vec<&dyn Participant<I>>;
}

/// An agent that can decide a forum: its input is a [`Transcript`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the captain of a forum",
    label = "not an agent that takes a `Transcript<T>`, of a `T` that is `Clone`",
    note = "the captain is given all that was said: make its `In` a `Transcript<T>`, where `T` is what the forum is about and can be cloned"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait Captain: Agent<In = Transcript<<Self as Captain>::Topic>> {
    /// Type of the topic that the forum talks about.
    type Topic: Data + Clone;
}

#[diagnostic::do_not_recommend]
impl<A: Agent<In = Transcript<I>>, I: Data + Clone> Captain for A {
    type Topic = I;
}

/// Helper bound: a captain whose topic type is the one that the participants `P` discuss.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the captain of a forum",
    label = "not an agent that takes a `Transcript<T>`, of a `T` that is `Clone`",
    note = "the captain is given all that was said: make its `In` a `Transcript<T>`, where `T` is what the forum is about and can be cloned"
)]
// Public because signatures name it. Programs neither name nor implement it.
#[doc(hidden)]
pub trait Decides<P>: Captain {
    /// Returns the participants, in the order in which they speak.
    #[doc(hidden)]
    fn speakers(participants: &P) -> Vec<&dyn Participant<Self::Topic>>;
}

impl<C: Captain, P: Participants<C::Topic>> Decides<P> for C {
    fn speakers(participants: &P) -> Vec<&dyn Participant<C::Topic>> {
        participants.participants()
    }
}

/// A discussion that has no captain yet, made by [`forum`].
#[derive(Clone, Debug)]
#[must_use = "a forum needs a `.captain(..)`"]
pub struct OpenForum<P> {
    participants: P,
    rounds: u32,
}

/// A discussion with a captain who decides, made by [`OpenForum::captain`].
#[derive(Clone, Debug)]
pub struct Forum<P, C> {
    participants: P,
    captain: C,
    rounds: u32,
    name: String,
    description: String,
}

/// Creates a discussion in which each participant reads everything said before, and a captain
/// decides.
///
/// The participants speak one after the other, in the order in which they are written. Then the
/// captain is given the whole [`Transcript`], and its answer is the forum's answer.
///
/// A participant is an agent that takes a `Transcript<T>` or a `String` and returns a `String`. The captain takes
/// a `Transcript<T>`; this `T` is the input of the forum and has to be `Clone`.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, ModelAgent, Skill};
/// use agents::compose::{Transcript, forum};
/// use agents::{Agent, Error};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
///
/// fn says(name: &'static str, what: &'static str) -> ModelAgent<'static, Transcript<String>, String> {
///     let body = move |heard: Transcript<String>| async move {
///         Ok(format!("{what}, after {} others", heard.contributions.len()))
///     };
///     AgentBuilder::new(name).skill(Skill::native("speak", "Speaks.", body)).build()
/// }
/// let captain = AgentBuilder::<Transcript<String>, String>::new("captain")
///     .skill(Skill::native("decide", "Decides.", |all: Transcript<String>| async move {
///         Ok(format!("{}: {}", all.topic, all.contributions[1].text))
///     }))
///     .build();
/// let verdict = forum((says("initiator", "yes"), says("critic", "no"))).captain(captain);
/// assert_eq!(verdict.name(), "forum(initiator, critic ► captain)");
/// assert_eq!(verdict.run("ship it?").await?, "ship it?: no, after 1 others");
/// # Ok(())
/// # }
/// ```
pub fn forum<P>(participants: P) -> OpenForum<P> {
    OpenForum {
        participants,
        rounds: 1,
    }
}

impl<P> OpenForum<P> {
    /// Sets how many times each participant speaks; 1 by default.
    ///
    /// ```
    /// # use agents_core as agents;
    /// use agents::agent::{AgentBuilder, Skill};
    /// use agents::compose::{Transcript, forum};
    /// use agents::{Agent, Error};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    ///
    /// let parrot = || {
    ///     let skill = Skill::native("speak", "Speaks.", |heard: String| async move { Ok(heard.len().to_string()) });
    ///     AgentBuilder::<String, String>::new("parrot").skill(skill).build()
    /// };
    /// let count = AgentBuilder::<Transcript<String>, usize>::new("count")
    ///     .skill(Skill::native("count", "Counts.", |all: Transcript<String>| async move { Ok(all.contributions.len()) }))
    ///     .build();
    /// assert_eq!(forum((parrot(), parrot())).rounds(3).captain(count).run("?").await?, 6);
    /// # Ok(())
    /// # }
    /// ```
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.rounds = rounds;
        self
    }

    /// Sets the agent that reads the whole transcript and gives the forum's answer.
    pub fn captain<C: Decides<P>>(self, captain: C) -> Forum<P, C> {
        let OpenForum {
            participants,
            rounds,
        } = self;
        let speakers = C::speakers(&participants);
        let names: Vec<_> = speakers.iter().map(|who| who.speaks_as()).collect();
        let name = format!("forum({} ► {})", listed(&names), captain.name());
        let description = match captain.description() {
            "" => wording::discussion(&names, captain.name()),
            said => said.to_owned(),
        };
        Forum {
            participants,
            captain,
            rounds,
            name,
            description,
        }
    }
}

#[async_trait]
impl<P, C> Agent for Forum<P, C>
where
    P: Send + Sync,
    C: Decides<P>,
{
    type In = C::Topic;
    type Out = C::Out;

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn profile(&self) -> Profile {
        let speakers = C::speakers(&self.participants).into_iter();
        let speakers = speakers.map(Participant::speaks_with);
        Profile::of_parts(speakers.chain([self.captain.profile()]))
    }

    async fn work(&self, cx: &RunContext, topic: C::Topic) -> Result<C::Out, Error> {
        let speakers = C::speakers(&self.participants);
        let mut said = Vec::new();
        for _ in 0..self.rounds {
            for who in &speakers {
                let so_far = Transcript {
                    topic: topic.clone(),
                    contributions: said.clone(),
                };
                let text = who.speak(cx, so_far).await?;
                let by = who.speaks_as().to_owned();
                said.push(Contribution { by, text });
            }
        }
        let whole = Transcript {
            topic,
            contributions: said,
        };
        self.captain.run_in(&cx.speaking(), whole).await
    }
}

/// Implements [`Participants`] for the tuple `(A, B)`: `participants!(A B)`.
macro_rules! participants {
    ($($part:ident)+) => {
        #[allow(non_snake_case)]
        impl<Topic, $($part: Participant<Topic>),+> Participants<Topic> for ($($part,)+) {
            fn participants(&self) -> Vec<&dyn Participant<Topic>> {
                let ($($part,)+) = self;
                vec![$($part),+]
            }
        }
    };
}

participants!(A B);
participants!(A B C);
participants!(A B C D);
participants!(A B C D E);
participants!(A B C D E F);
participants!(A B C D E F G);
participants!(A B C D E F G H);

impl<A: Participant<I>, I> Participants<I> for Vec<A> {
    fn participants(&self) -> Vec<&dyn Participant<I>> {
        self.iter().map(|agent| agent as _).collect()
    }
}

impl<A: Participant<I>, I, const N: usize> Participants<I> for [A; N] {
    fn participants(&self) -> Vec<&dyn Participant<I>> {
        self.iter().map(|agent| agent as _).collect()
    }
}
