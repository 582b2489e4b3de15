use super::{
    draw::Sheet,
    escalation::is_of,
    row::{ANSWERED, Kind, REFUSED, Row, within},
};
use crate::console::again;
use agents_core::{
    escalation::{Escalation, EscalationReceipt},
    model::Usage,
    run::{Event, EventKind, Timestamp, ToolEnvelope},
    screen::shorten,
};
use std::{
    io::{self, IsTerminal, Write},
    sync::{Arc, Mutex, PoisonError},
};

/// Returns an event handler that draws a run on the standard output while it runs;
/// [`Run::on_event`](agents_core::agent::Run::on_event) takes it.
///
/// ```
/// use agents::{prelude::*, timeline};
///
/// # async fn run(clerk: agents::agent::ModelAgent<'_, String, String>) -> Result<(), Error> {
/// clerk.run("Tidy up").on_event(timeline::live()).await?;
/// # Ok(())
/// # }
/// ```
pub fn live() -> impl Fn(&Event) + Send + Sync + 'static {
    live_to(io::stdout(), io::stdout().is_terminal())
}

/// Returns an event handler that draws a run on any writer while it runs. With `redraw`, the timeline is drawn again
/// in its place whenever it changes, which needs a terminal. Without it, a line is written for each step when the step
/// ends. A turn whose answer is refused gets a second line, and a call that ends with an escalation has its line when
/// the escalation is settled.
///
/// ```
/// use agents::{prelude::*, timeline};
///
/// # async fn run(clerk: agents::agent::ModelAgent<'_, String, String>) -> Result<(), Box<dyn std::error::Error>> {
/// // One line for each step, when it ends, into a file that can be followed.
/// let log = std::fs::File::create("run.log")?;
/// clerk.run("Tidy up").on_event(timeline::live_to(log, false)).await?;
/// # Ok(())
/// # }
/// ```
pub fn live_to(out: impl Write + Send + 'static, redraw: bool) -> impl Fn(&Event) + Send + Sync {
    let live = Mutex::new(Live {
        out,
        redraw,
        rows: Vec::new(),
        raised: Vec::new(),
        unsettled: Vec::new(),
        escalations: Vec::new(),
        why: None,
        drawn: 0,
    });
    move |event| {
        let mut live = live.lock().unwrap_or_else(PoisonError::into_inner);
        // An output that was closed must not stop the run.
        let _ = live.on(event, Timestamp::now());
    }
}

struct Live<W> {
    out: W,
    redraw: bool,
    /// Rows of all steps so far, each below the row of the step around it.
    rows: Vec<Row>,
    /// Escalations that have not been settled yet.
    raised: Vec<Escalation>,
    /// Calls that have ended, and whose escalations have not been settled yet: place and receipt of each.
    unsettled: Vec<(String, Arc<ToolEnvelope>)>,
    /// Receipts of the escalations that have been settled.
    escalations: Vec<EscalationReceipt>,
    /// Reason why the run ends without an answer; `None` as long as none is known.
    why: Option<String>,
    /// Number of lines that were drawn last time, and are drawn over.
    drawn: usize,
}

impl<W: Write> Live<W> {
    fn on(&mut self, event: &Event, now: Timestamp) -> io::Result<()> {
        let ended = match self.take_in(event, now) {
            Some(ended) => ended,
            None => return Ok(()),
        };
        if self.redraw {
            return self.draw(now, matches!(event.kind, EventKind::RunEnded { .. }));
        }
        let Some(sheet) = Sheet::over(&self.rows, now, false, super::draw::WIDTH) else {
            return Ok(());
        };
        let sheet = sheet.without_bars();
        for row in ended {
            writeln!(self.out, "{}", sheet.line(&self.rows[row]))?;
        }
        self.out.flush()
    }

    /// Changes the rows of the timeline as the event says. Returns the indices of the rows to write as lines if the
    /// timeline is not redrawn: those of steps that have ended, and of answers that were refused. `None` if nothing
    /// visible changed.
    fn take_in(&mut self, event: &Event, now: Timestamp) -> Option<Vec<usize>> {
        let place = &event.place;
        match &event.kind {
            EventKind::RunStarted { .. } | EventKind::AgentStarted => {
                self.add(|depth| Row::agent(place, depth, &event.agent, now), place);
            }
            EventKind::ModelRequested {
                turn,
                model,
                choosing,
            } => {
                let place = format!("{place}/turn{turn:04}");
                let row = |depth| Row::turn(&place, depth, model, *choosing, now);
                self.add(row, &place);
            }
            EventKind::ModelReplied {
                turn, calls, usage, ..
            } => {
                let place = format!("{place}/turn{turn:04}");
                return self.end(&place, now, |row| row.replied(Some(*calls), *usage));
            }
            EventKind::CallStarted {
                tool, arguments, ..
            } => {
                self.add(|depth| Row::call(place, depth, tool, now), place);
                self.note(place, shorten(arguments, 60));
            }
            EventKind::CallEnded(receipt) => {
                // A call that never had its turn ends without having begun.
                if !self.rows.iter().any(|row| row.place == *place) {
                    let start = receipt.t_start;
                    self.add(|depth| Row::call(place, depth, &receipt.name, start), place);
                }
                let ended = self.call_ended(place, now, receipt);
                let error = receipt.error.as_deref();
                let is_open = |error| self.raised.iter().any(|raised| is_of(error, raised));
                if error.is_some_and(is_open) {
                    self.unsettled.push((place.clone(), receipt.clone()));
                    return Some(Vec::new());
                }
                return ended;
            }
            EventKind::AttemptStarted { attempt, .. } if *attempt > 1 => {
                self.note(place, format!("attempt {attempt}"));
            }
            EventKind::BackingOff { wait, .. } => {
                self.note(place, again(*wait));
            }
            EventKind::FixerRequested { fixer, .. } => {
                self.note(place, format!("{fixer} repairs it"))
            }
            EventKind::AnswerFailed { .. } => {
                self.answer(place, REFUSED);
            }
            EventKind::AnswerRepaired { .. } => {
                self.answer(place, ANSWERED);
            }
            EventKind::AnswerRefused { .. } => {
                return Some(self.answer(place, REFUSED).into_iter().collect());
            }
            EventKind::ApprovalRequested(request) => {
                let note = match request.question {
                    Some(_) => "waits for an answer",
                    None => "waits for approval",
                };
                self.note(place, note.to_owned());
            }
            EventKind::Escalated(escalation) => {
                self.raised.push((**escalation).clone());
                self.note(place, format!("escalated: {}", escalation.reason));
            }
            EventKind::EscalationSettled(receipt) => {
                self.escalations.push((**receipt).clone());
                return self.escalation_settled(&receipt.escalation);
            }
            EventKind::Stopped(stopped) => {
                self.why = Some(stopped.to_string());
                return None;
            }
            EventKind::Failed { reason, .. } => {
                self.why = Some(reason.clone());
                return None;
            }
            EventKind::AgentEnded { ok } => {
                let turn = self.rows.iter_mut().rfind(|row| row.is_turn_of(place));
                if let Some(turn) = turn.filter(|turn| turn.end.is_none()) {
                    *turn = turn.clone().replied(None, Usage::default());
                    turn.end = Some(now);
                }
                return self.end(place, now, |row| row.done(*ok));
            }
            EventKind::RunEnded { ok, partial, .. } => {
                // Dropped steps have not reported their end.
                for row in self.rows.iter_mut().filter(|row| row.end.is_none()) {
                    match row.kind {
                        Kind::Call => row.kind = Kind::Failed,
                        Kind::Turn => *row = row.clone().replied(None, Usage::default()),
                        Kind::Agent | Kind::Failed => {}
                    }
                    row.end = Some(now);
                }
                let why = self.why.take();
                return self.end("", now, |row| match why {
                    Some(why) => row.done(*ok).because(why),
                    None => row.done(*ok).partial(*partial),
                });
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    /// Inserts a row below the row of the step around it, after the rows that are there already.
    fn add(&mut self, row: impl FnOnce(usize) -> Row, place: &str) {
        let around = |row: &&Row| within(place, &row.place);
        let parent = self
            .rows
            .iter()
            .filter(around)
            .max_by_key(|row| row.place.len());
        let (parent, depth) = match parent {
            Some(parent) => (parent.place.clone(), parent.depth + 1),
            None => (String::new(), 0),
        };
        let below = self
            .rows
            .iter()
            .rposition(|row| row.place == parent || within(&row.place, &parent));
        let at = below.map_or(self.rows.len(), |last| last + 1);
        self.rows.insert(at, row(depth));
    }

    /// Completes the row of a call that has its receipt.
    fn call_ended(
        &mut self,
        place: &str,
        end: Timestamp,
        receipt: &ToolEnvelope,
    ) -> Option<Vec<usize>> {
        let escalations = std::mem::take(&mut self.escalations);
        let ended = self.end(place, end, |row| row.settled(receipt, &escalations));
        self.escalations = escalations;
        ended
    }

    /// Removes an escalation that has been settled, and completes the row of the call that was given up with it.
    fn escalation_settled(&mut self, escalation: &Escalation) -> Option<Vec<usize>> {
        let is_it = |other: &Escalation| {
            other.source == escalation.source && other.original == escalation.original
        };
        let raised = self.raised.iter().position(is_it)?;
        self.raised.remove(raised);
        let is_of_it = |(_, receipt): &(String, Arc<ToolEnvelope>)| {
            let error = receipt.error.as_deref();
            error.is_some_and(|error| is_of(error, escalation))
        };
        let ended = self.unsettled.iter().position(is_of_it)?;
        let (place, receipt) = self.unsettled.remove(ended);
        let row = self.rows.iter().rfind(|row| row.place == place)?;
        self.call_ended(&place, row.end?, &receipt)
    }

    /// Adds a note to the row of the agent's last answer at this place: what became of the answer. Returns the index of
    /// the row; `None` if there is no such row.
    fn answer(&mut self, place: &str, became: &str) -> Option<usize> {
        let index = self.rows.iter().rposition(|row| row.is_turn_of(place))?;
        self.rows[index] = self.rows[index].clone().answer(became);
        Some(index)
    }

    fn note(&mut self, place: &str, note: String) {
        if let Some(row) = self.rows.iter_mut().rfind(|row| row.place == place) {
            row.note = note;
        }
    }

    fn end(
        &mut self,
        place: &str,
        now: Timestamp,
        change: impl FnOnce(Row) -> Row,
    ) -> Option<Vec<usize>> {
        let index = self.rows.iter().rposition(|row| row.place == place)?;
        let mut row = change(self.rows[index].clone());
        row.end = Some(now);
        self.rows[index] = row;
        Some(vec![index])
    }

    /// Draws the timeline over the lines drawn last time: the last rows that fit on the screen, or, if `whole`, all
    /// rows.
    fn draw(&mut self, now: Timestamp, whole: bool) -> io::Result<()> {
        let colour = std::env::var_os("NO_COLOR").is_none();
        let Some(sheet) = Sheet::over(&self.rows, now, colour, columns()) else {
            return Ok(());
        };
        let hidden = match whole {
            true => 0,
            false => self.rows.len().saturating_sub(screen()),
        };
        // Lines are cut, not wrapped, on a terminal that is narrower than `COLUMNS` says.
        let mut text = String::from("\x1b[?7l");
        if self.drawn > 0 {
            text.push_str(&format!("\x1b[{}A\x1b[0J", self.drawn));
        }
        for row in &self.rows[hidden..] {
            text.push_str(&sheet.line(row));
            text.push('\n');
        }
        text.push_str("\x1b[?7h");
        self.drawn = self.rows.len() - hidden;
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}

/// Returns the maximum width of a line on this terminal. Lines are redrawn in place, so the terminal must not wrap
/// them.
fn columns() -> usize {
    size("COLUMNS", 80) - 1
}

/// Returns the number of lines that fit on the screen.
fn screen() -> usize {
    size("LINES", 24) - 1
}

/// Returns a size of the terminal from this environment variable, or `usual` if the variable has no usable value.
fn size(name: &str, usual: usize) -> usize {
    let said = std::env::var(name).ok().and_then(|size| size.parse().ok());
    said.filter(|size| *size > 1).unwrap_or(usual)
}

#[cfg(test)]
mod tests;
