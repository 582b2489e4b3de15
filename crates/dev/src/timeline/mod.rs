//! Timeline of a run on the terminal: which agent, model and tool worked when, and with what result.
//!
//! [`of`] draws a run that has ended. [`live`] draws a run while it runs, and redraws it whenever an event changes it.
//! If the output is not a terminal, [`live`] writes a line for each step when the step ends. Such lines have no bars,
//! because the scale of the bars is the whole run.
//!
//! ```
//! use agents::{prelude::*, timeline};
//! # use agents::{testing::{Script, ScriptedModel}, tool};
//! # /// Adds.
//! # #[tool(none)]
//! # async fn add(
//! #     /// One.
//! #     a: u32,
//! #     /// Another.
//! #     b: u32,
//! # ) -> u32 { a + b }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let (model, _) = ScriptedModel::new([Script::call("add", r#"{"a":1,"b":2}"#), Script::text("3")]);
//! # let adder = AgentBuilder::<String, String>::new("adder").tool(Add).model(model).build();
//! let outcome = adder.run("1 + 2").on_event(timeline::live()).outcome().await?;
//!
//! let drawn = timeline::of(&outcome).to_string();
//! assert!(drawn.contains("✓ add") && drawn.contains(r#"{"a":1,"b":2} → 3"#));
//! # Ok(())
//! # }
//! ```
//!
//! `▸` is an agent, `·` a turn of its model, `✓` a call that has succeeded, and `…` one that goes on. `✗` is a step of
//! any of these kinds that has failed. The lines below a call show the steps inside it. The bar shows when in the run a
//! step took place.

mod draw;
mod escalation;
mod live;
mod row;

pub use live::{live, live_to};

use agents_core::{
    escalation::EscalationReceipt,
    observe::{StepKind, TraceStep},
    run::{AgentOutputs, Outcome},
};
use draw::Sheet;
use row::Row;
use std::{collections::HashMap, fmt};

/// Drawing of a run that has ended; its `Display` output is the timeline.
///
/// ```
/// use agents::{prelude::*, timeline};
/// # use agents::testing::{Script, ScriptedModel};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("3")]);
/// # let adder = AgentBuilder::<String, String>::new("adder").model(model).build();
/// let outcome = adder.run("1 + 2").outcome().await?;
/// // For a log file: no colours, and no line longer than this.
/// let drawn = timeline::of(&outcome).colour(false).width(60).to_string();
/// assert!(drawn.lines().all(|line| line.chars().count() <= 60));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Timeline {
    rows: Vec<Row>,
    colour: bool,
    width: usize,
}

/// Creates the timeline of a run that has ended.
///
/// ```
/// use agents::{prelude::*, timeline};
/// # use agents::testing::{Script, ScriptedModel};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), agents::Error> {
/// # let (model, _) = ScriptedModel::new([Script::text("many")]);
/// # let adder = AgentBuilder::<String, u32>::new("adder").model(model).budget(Budget::new().max_turns(1)).build();
/// let outcome = adder.run("1 + 2").outcome().await?;
/// if outcome.result.is_err() {
///     eprintln!("{}", timeline::of(&outcome)); // what led to it, and why it ended
/// }
/// # Ok(())
/// # }
/// ```
pub fn of<T>(outcome: &Outcome<T>) -> Timeline {
    let mut rows = rows(&outcome.trace.steps, &outcome.outputs, &outcome.escalations);
    if let Some(root) = rows.first_mut() {
        let row = root.clone();
        *root = match (&outcome.result, &outcome.stopped) {
            (Ok(_), _) => row.partial(outcome.partial),
            (Err(_), Some(stopped)) => row.because(stopped.to_string()),
            (Err(error), None) => row.because(error.to_string()),
        };
    }
    Timeline {
        rows,
        colour: false,
        width: draw::WIDTH,
    }
}

impl Timeline {
    /// Turns the timeline's colours on or off; they are off by default.
    #[must_use]
    pub fn colour(mut self, colour: bool) -> Self {
        self.colour = colour;
        self
    }

    /// Sets the width of the timeline in columns, to which notes are cut; 100 by default. Names, bars and times are
    /// never cut for it, and take up to about 65 columns.
    #[must_use]
    pub fn width(mut self, columns: usize) -> Self {
        self.width = columns;
        self
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.rows.iter().filter_map(|row| row.end).max();
        let Some(sheet) = Sheet::over(&self.rows, end.unwrap_or_default(), self.colour, self.width)
        else {
            return f.write_str("nothing has happened");
        };
        let lines: Vec<_> = self.rows.iter().map(|row| sheet.line(row)).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Returns a row of the timeline for each step, below the row of the step around it.
fn rows(
    steps: &[TraceStep],
    outputs: &AgentOutputs,
    escalations: &[EscalationReceipt],
) -> Vec<Row> {
    let mut below: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        let around = steps
            .iter()
            .enumerate()
            .filter(|(_, other)| row::within(&step.place, &other.place));
        let parent = around.max_by_key(|(_, other)| other.place.len());
        below
            .entry(parent.map(|(parent, _)| parent))
            .or_default()
            .push(index);
    }
    for children in below.values_mut() {
        // Steps come in the order in which they ended, which also orders steps that began at the same time.
        children.sort_by_key(|index| (steps[*index].t_start, steps[*index].t_end, *index));
    }
    let mut rows = Vec::new();
    let mut next: Vec<(usize, usize)> = Vec::new();
    let push = |next: &mut Vec<(usize, usize)>, parent: Option<usize>, depth: usize| {
        let children = below.get(&parent).into_iter().flatten().rev();
        next.extend(children.map(|index| (*index, depth)));
    };
    push(&mut next, None, 0);
    while let Some((index, depth)) = next.pop() {
        rows.push(row_of(&steps[index], depth, outputs, escalations));
        push(&mut next, Some(index), depth + 1);
    }
    rows
}

fn row_of(
    step: &TraceStep,
    depth: usize,
    outputs: &AgentOutputs,
    escalations: &[EscalationReceipt],
) -> Row {
    let mut row = match &step.kind {
        StepKind::Agent { ok } => {
            Row::agent(&step.place, depth, &step.agent, step.t_start).done(*ok)
        }
        StepKind::Turn {
            model,
            calls,
            usage,
            choosing,
            refused,
            ..
        } => {
            let row = Row::turn(&step.place, depth, model, *choosing, step.t_start);
            let row = row.replied(*calls, *usage);
            match refused {
                true => row.answer(row::REFUSED),
                false => row,
            }
        }
        StepKind::Call { call_id } => match outputs.tools_by_id.get(call_id) {
            Some(receipt) => {
                let row = Row::call(&step.place, depth, &receipt.name, step.t_start);
                row.settled(receipt, escalations)
            }
            None => Row::call(&step.place, depth, call_id, step.t_start),
        },
    };
    row.end = Some(step.t_end);
    row
}
