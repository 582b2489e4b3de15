use crate::Error;
use futures_util::future::BoxFuture;
use std::{borrow::Cow, fmt, sync::Arc};

type Body<'a, I, O> = Arc<dyn Fn(I) -> BoxFuture<'a, Result<O, Error>> + Send + Sync + 'a>;
type When<'a, I> = Arc<dyn Fn(&I) -> bool + Send + Sync + 'a>;

/// One way an agent has of answering: by a body of its own, or by the model.
///
/// ```
/// use agents_core::agent::{AgentBuilder, Skill};
///
/// let greeter = AgentBuilder::<String, String>::new("greeter")
///     .skill(Skill::native("greet", "Greets.", |name: String| async move { Ok(format!("hello, {name}")) }))
///     .build();
/// ```
pub struct Skill<'a, I, O> {
    name: Cow<'static, str>,
    description: Cow<'static, str>,
    when: Option<When<'a, I>>,
    body: Option<Body<'a, I, O>>,
}

impl<'a, I, O> Skill<'a, I, O> {
    /// A skill that the model carries out.
    pub fn model(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        Skill {
            name: name.into(),
            description: description.into(),
            when: None,
            body: None,
        }
    }

    /// A skill that `body` carries out, without a model.
    pub fn native<F, Fut>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        body: F,
    ) -> Self
    where
        F: Fn(I) -> Fut + Send + Sync + 'a,
        Fut: Future<Output = Result<O, Error>> + Send + 'a,
    {
        let body: Body<'a, I, O> = Arc::new(move |input| Box::pin(body(input)));
        Skill {
            name: name.into(),
            description: description.into(),
            when: None,
            body: Some(body),
        }
    }

    /// Takes the inputs for which `when` holds. Skills with a condition are asked first, in order.
    #[must_use]
    pub fn when(mut self, when: impl Fn(&I) -> bool + Send + Sync + 'a) -> Self {
        self.when = Some(Arc::new(when));
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does.
    pub fn description(&self) -> &str {
        &self.description
    }

    pub(crate) fn body(&self) -> Option<&Body<'a, I, O>> {
        self.body.as_ref()
    }

    pub(crate) fn is_conditional(&self) -> bool {
        self.when.is_some()
    }

    pub(crate) fn wants(&self, input: &I) -> bool {
        self.when.as_ref().is_some_and(|when| when(input))
    }
}

impl<I, O> fmt::Debug for Skill<'_, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skill")
            .field("name", &self.name)
            .field("native", &self.body.is_some())
            .finish()
    }
}
