use super::{Placed, wording};
use crate::{
    Agent, Error, ErrorKind,
    context::RunContext,
    place::{Delegate, Placement},
    shared::Shared,
};
use std::{any::type_name, sync::Arc};

/// Returns the delegate of this type, so that code of the agent above it can run it: a skill with a body, or a
/// tool.
///
/// Run the delegate like any agent: it has the tools that its place grants. If the agent above may use it only with
/// [confirmation](super::Member::confirm_named), the approver is asked before each run. A denial is an error of the
/// kind [`Denied`](ErrorKind::Denied).
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, ModelAgent, Skill};
/// use agents::team::{Member, delegate};
/// use agents::{Agent, Error};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
///
/// type Coder = ModelAgent<'static, String, String>;
/// let coder: Coder = AgentBuilder::new("coder")
///     .skill(Skill::native("code", "Writes code.", |task: String| async move { Ok(format!("{task}, done")) }))
///     .build();
/// let lead = AgentBuilder::<String, String>::new("lead")
///     .skill(Skill::native("lead", "Leads.", |task: String| async move {
///         delegate::<Coder>()?.run(task).await
///     }))
///     .build();
/// let team = Member::new(lead).delegate(coder).build();
/// assert_eq!(team.run("the parser").await?, "the parser, done");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// An error of the kind `Build`, when no agent of a team works here, or the agent has no delegate of this type or
/// several of them.
pub fn delegate<A: Agent + 'static>() -> Result<Arc<Placed<A>>, Error> {
    let wanted = short(type_name::<A>());
    let here = here(&wanted)?;
    let of_type = |below: &Arc<dyn Delegate>| below.by_type(&here).downcast().ok();
    only(&here, &wanted, of_type)
}

/// Returns the delegate of this name, with the input `I` and the output `O`, so that code can run it.
///
/// Use it for agents whose type cannot be written, or for several delegates of one type. In all other respects it
/// works as [`delegate`] does.
///
/// ```
/// # use agents_core as agents;
/// use agents::agent::{AgentBuilder, ModelAgent, Skill};
/// use agents::team::{Member, delegate_named};
/// use agents::{Agent, Error};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
///
/// let counts = |name: &'static str| -> ModelAgent<'static, String, usize> {
///     AgentBuilder::new(name)
///         .skill(Skill::native("count", "Counts.", |text: String| async move { Ok(text.len()) }))
///         .build()
/// };
/// let lead = AgentBuilder::<String, usize>::new("lead")
///     .skill(Skill::native("lead", "Leads.", |task: String| async move {
///         delegate_named::<String, usize>("second")?.run(task).await
///     }))
///     .build();
/// let team = Member::new(lead).delegate(counts("first")).delegate(counts("second")).build();
/// assert_eq!(team.run("four").await?, 4);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// An error of the kind `Build`, when no agent of a team works here, or the agent has no delegate of this name with
/// this input and output.
pub fn delegate_named<I, O>(name: &str) -> Result<Arc<dyn Agent<In = I, Out = O>>, Error>
where
    I: 'static,
    O: 'static,
{
    let (input, output) = (short(type_name::<I>()), short(type_name::<O>()));
    let wanted = format!("{name}: {input} -> {output}");
    let here = here(&wanted)?;
    let of_name = |below: &Arc<dyn Delegate>| {
        let agent = below.by_signature(&here).downcast().ok();
        agent
            .filter(|_| below.placement().name == name)
            .map(|agent| *agent)
    };
    only(&here, &wanted, of_name)
}

fn here(wanted: &str) -> Result<Shared<Placement>, Error> {
    let cx = RunContext::current();
    let place = cx.as_ref().and_then(RunContext::place);
    place
        .map(|place| place.placement.clone())
        .ok_or_else(|| missing(wording::no_team_at_work(wanted)))
}

fn only<T>(
    here: &Placement,
    wanted: &str,
    fits: impl FnMut(&Arc<dyn Delegate>) -> Option<T>,
) -> Result<T, Error> {
    let name = &here.name;
    let mut found = here.delegates.iter().filter_map(fits);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(missing(wording::several_delegates(name, wanted))),
        (None, _) => {
            let names: Vec<_> = here
                .delegates
                .iter()
                .map(|below| &*below.placement().name)
                .collect();
            Err(missing(wording::no_delegate(name, wanted, &names)))
        }
    }
}

fn missing(message: String) -> Error {
    Error::new(ErrorKind::Build, message)
}

/// Returns a type name without its modules, for messages: `Vec<String>` for `alloc::vec::Vec<alloc::string::String>`.
fn short(path: &str) -> String {
    let mut name = String::new();
    for part in path.split_inclusive(|letter: char| !letter.is_alphanumeric() && letter != '_') {
        match part.strip_suffix(':') {
            Some(_) => {}
            None => name += part,
        }
    }
    name.replace("'_, ", "")
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn types_are_named_without_their_modules() {
        assert_eq!(
            short("alloc::vec::Vec<alloc::string::String>"),
            "Vec<String>"
        );
        assert_eq!(short("(u32, a::b_c::D2<'_>)"), "(u32, D2<'_>)");
    }
}
