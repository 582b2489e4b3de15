//! Approval of tool calls at the terminal.
//!
//! ```no_run
//! use agents::{approve::ask_me, prelude::*};
//!
//! # async fn run() -> Result<(), Error> {
//! # let agent = AgentBuilder::<String, String>::new("a").build();
//! agent.run("Tidy up").approver(ask_me).await?;
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! file_manager wants to run delete_file, which writes:
//!   {"path": "old.log"}
//! [y]es, [n]o and why; anything else is what to change:
//! ```
//!
//! A question of an agent ([`Ask`](agents_core::tool::Ask)) shows what may be answered:
//!
//! ```text
//! clerk asks: Where do you want to sit?
//!   1 Window
//!   2 Aisle
//! answer (nothing for Aisle):
//! ```

use agents_core::screen::shown;
use agents_core::{
    Effects, Json,
    run::{Approval, ApprovalRequest, Question},
    tool::Risk,
};
use std::{
    io::{self, BufRead, IsTerminal, Write},
    thread,
};
use tokio::sync::oneshot;

/// Asks for approval at the terminal; [`Run::approver`](agents_core::agent::Run::approver) takes this function.
///
/// One request is shown at a time. If the standard input is not a terminal or has ended, the request is denied. If
/// the run ends before the answer, the request stays on the screen until it is answered. The answer then has no effect.
///
/// ```
/// use agents::{approve::ask_me, policy::confirm_writes, prelude::*};
///
/// # async fn run(clerk: agents::agent::ModelAgent<'_, String, String>) -> Result<(), Error> {
/// // Nothing is changed without a yes from the terminal.
/// clerk.run("Tidy up").policy(confirm_writes()).approver(ask_me).await?;
/// # Ok(())
/// # }
/// ```
pub async fn ask_me(request: ApprovalRequest) -> Approval {
    let (answer, answered) = oneshot::channel();
    // The question has a thread of its own, which the program does not wait for. The program can thus end before
    // the answer.
    let asking = thread::Builder::new().spawn(move || {
        // The thread that holds the lock asks.
        let mut input = io::stdin().lock();
        let approval = match input.is_terminal() {
            true => ask(&request, &mut input, &mut io::stderr()),
            false => nobody(),
        };
        // The run may be over, so that the answer is no longer awaited.
        let _ = answer.send(approval);
    });
    match asking {
        Ok(_) => answered.await.unwrap_or_else(|_| nobody()),
        Err(error) => Approval::deny(format!("nobody could be asked: {error}")),
    }
}

/// Asks for approval: writes the request to `output` and reads the answer from `input`. The end of the input and a
/// failure to read or write deny.
///
/// A question of an agent is answered with one of the choices or its number, with a text, or with JSON that fits the form.
/// An answer that does not fit is asked for again. An empty line is the default of the form; without a default, it
/// denies.
///
/// Any other request shows the whole arguments, all changes since the model wrote them, and the origins of
/// [known](agents_core::evidence::Known) values, because a person can approve only what is shown. `y` and `yes` approve. `n`,
/// `no` and an empty line deny; text after `n` or `no` is the reason. Any other text says what to change.
///
/// ```
/// use agents::{Json, approve::ask, run::{Approval, ApprovalRequest}};
///
/// let request = ApprovalRequest::new("payer", "pay", Json::parse(r#"{"amount": 900}"#).unwrap());
/// let mut screen = Vec::new();
/// let approval = ask(&request, &mut "no not on a Friday\n".as_bytes(), &mut screen);
/// assert_eq!(approval, Approval::deny("not on a Friday"));
/// ```
pub fn ask(
    request: &ApprovalRequest,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Approval {
    if let Some(question) = &request.question {
        return put(&request.agent_name, question, input, output).unwrap_or_else(|_| nobody());
    }
    let mut line = String::new();
    let asked = write!(output, "{}", question(request)).and_then(|()| output.flush());
    match asked.and_then(|()| input.read_line(&mut line)) {
        Ok(0) | Err(_) => nobody(),
        Ok(_) => answer(line.trim()),
    }
}

/// Asks a question of an agent until an answer fits, or until an empty line without a default, or the end of the input,
/// denies. A failure to read or write is an error.
fn put(
    agent: &str,
    question: &Question,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Approval> {
    let Question { text, form, .. } = question;
    let choices = form.choices();
    writeln!(output, "{} asks: {}", shown(agent), shown(text))?;
    for (number, choice) in (1..).zip(&choices) {
        writeln!(output, "  {number} {}", shown(choice))?;
    }
    if choices.is_empty() && form.schema["type"] != "string" {
        writeln!(output, "  as JSON: {}", shown(&form.schema.to_string()))?;
    }
    loop {
        match &form.default {
            Some(default) => {
                let default = default.to().unwrap_or_else(|_| default.to_string());
                write!(output, "answer (nothing for {}): ", shown(&default))?;
            }
            None => write!(output, "answer: ")?,
        }
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(nobody());
        }
        let line = line.trim();
        let number = line.parse::<usize>().ok();
        let chosen = number.and_then(|number| choices.get(number.checked_sub(1)?));
        let read = match (chosen, line) {
            (Some(choice), _) => Ok(Json::string(choice)),
            (None, "") => match &form.default {
                Some(default) => Ok(default.clone()),
                None => return Ok(Approval::deny("not answered at the terminal")),
            },
            (None, line) => form.read(line),
        };
        match read {
            Ok(answer) => return Ok(Approval::Answer { answer }),
            Err(misfit) => writeln!(
                output,
                "  this does not fit: {}",
                shown(&misfit.to_string())
            )?,
        }
    }
}

fn nobody() -> Approval {
    Approval::deny("nobody is at the terminal to approve")
}

fn question(request: &ApprovalRequest) -> String {
    let ApprovalRequest {
        agent_name,
        tool_name,
        args,
        repairs,
        known,
        effects,
        risk,
        effect_description,
        ..
    } = request;
    let effects = match effects {
        Effects::None => "changes nothing",
        Effects::Reads => "reads",
        Effects::Writes => "writes",
    };
    let changes: String = repairs
        .iter()
        .map(|change| format!("  changed: {}\n", shown(&change.to_string())))
        .collect();
    let known = known.iter();
    let known: String = known
        .map(|one| format!("  known: {}\n", shown(&one.to_string())))
        .collect();
    let does = effect_description.iter();
    let does: String = does.map(|does| format!("  {}\n", shown(does))).collect();
    let risky = match risk {
        Risk::Low | Risk::Medium => "",
        Risk::High => " (high risk)",
    };
    format!(
        "{} wants to run {}, which {effects}{risky}:\n  {}\n{does}{changes}{known}[y]es, [n]o and why; anything else is what to change: ",
        shown(agent_name),
        shown(tool_name),
        shown(args.as_str()),
    )
}

fn answer(said: &str) -> Approval {
    let (first, rest) = said.split_once([' ', ',']).unwrap_or((said, ""));
    let (first, rest) = (first.to_lowercase(), rest.trim());
    match (first.as_str(), rest) {
        ("y" | "yes", "") => Approval::Approve,
        ("" | "n" | "no", "") => Approval::deny("denied at the terminal"),
        ("n" | "no", reason) => Approval::deny(reason),
        _ => Approval::Revise { note: said.into() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agents_core::{Json, reader::ChangeKind, run::RepairStep};

    fn request(args: &str) -> ApprovalRequest {
        let args = Json::parse(args).expect("the test writes JSON");
        ApprovalRequest::new("file_manager", "delete_file", args)
    }

    /// Returns the approval that follows from a typed answer, and the text on the screen.
    fn asked(args: &str, typed: &str) -> (Approval, String) {
        let mut screen = Vec::new();
        let approval = ask(&request(args), &mut typed.as_bytes(), &mut screen);
        (approval, String::from_utf8(screen).expect("text is shown"))
    }

    #[test]
    fn only_a_plain_yes_approves() {
        let denied = || Approval::deny("denied at the terminal");
        let revise = |note: &str| Approval::Revise { note: note.into() };
        for (typed, approval) in [
            ("y\n", Approval::Approve),
            (" Yes \r\n", Approval::Approve),
            ("n\n", denied()),
            ("NO\n", denied()),
            ("\n", denied()),
            ("no, it is needed\n", Approval::deny("it is needed")),
            ("n it is needed", Approval::deny("it is needed")),
            ("yes but keep a copy\n", revise("yes but keep a copy")),
            ("yess\n", revise("yess")),
            ("move it to trash\n", revise("move it to trash")),
            ("", Approval::deny("nobody is at the terminal to approve")),
        ] {
            assert_eq!(asked("{}", typed).0, approval, "{typed:?}");
        }
    }

    /// Returns the answer to a question with this form, and the text on the screen.
    fn answered(form: &str, typed: &str) -> (Approval, String) {
        let mut request = request("{}");
        let question = format!("{{\"text\": \"Where to?\\u001b[2J\", \"form\": {{{form}}}}}");
        request.question = Some(serde_json::from_str(&question).expect("a question"));
        let mut screen = Vec::new();
        let approval = ask(&request, &mut typed.as_bytes(), &mut screen);
        (approval, String::from_utf8(screen).expect("text is shown"))
    }

    #[test]
    fn a_question_is_answered_with_a_choice_or_its_number() {
        let form = r#""schema": {"type": "string", "enum": ["Window", "Aisle"]}"#;
        for (typed, answer) in [
            ("Window\n", "Window"),
            ("aisle\n", "Aisle"),
            ("2\n", "Aisle"),
            ("3\nby the door\n\"Aisle\"\n", "Aisle"),
        ] {
            assert_eq!(
                answered(form, typed).0,
                Approval::answer(answer),
                "{typed:?}"
            );
        }
        let nobody_answers = Approval::deny("not answered at the terminal");
        assert_eq!(answered(form, "\n").0, nobody_answers);
        assert_eq!(answered(form, "3\n").0, nobody());
        let (_, screen) = answered(form, "by the door\n1\n");
        let (asked, again) = screen.split_at(screen.find("answer: ").expect("the field"));
        let shown = "file_manager asks: Where to?\\u{1b}[2J\n  1 Window\n  2 Aisle\n";
        assert_eq!(asked, shown);
        assert!(again.contains("this does not fit"), "{again}");
    }

    #[test]
    fn a_question_without_choices_takes_text_or_json_and_its_default() {
        let text = r#""schema": {"type": "string"}, "default": "Rome""#;
        assert_eq!(
            answered(text, "Paris, 3rd\n").0,
            Approval::answer("Paris, 3rd")
        );
        assert_eq!(answered(text, "\n").0, Approval::answer("Rome"));
        let number = r#""schema": {"type": "integer", "minimum": 1}"#;
        assert_eq!(answered(number, "0\ntwo\n2\n").0, Approval::answer(2));
        let yes = r#""schema": {"type": "boolean"}"#;
        assert_eq!(answered(yes, "true\n").0, Approval::answer(true));
    }

    #[test]
    fn the_origins_of_known_values_are_shown() {
        let mut request = request(r#"{"account": "A-1"}"#);
        let origin =
            r#"{"value": "A-1", "giver": {"tool": {"name": "read_mail"}}, "in_text": true}"#;
        request.known = vec![serde_json::from_str(origin).expect("an origin")];
        let shown = question(&request);
        let known = "  known: \"A-1\" from a text in the output of `read_mail`\n";
        assert!(shown.contains(known), "{shown}");
    }

    #[test]
    fn the_arguments_are_shown_whole_and_cannot_touch_the_screen() {
        let long = "x".repeat(10_000);
        let args = format!("{{\"path\":\n\"\u{202e}\u{9b}2J{long}é\"}}");
        let (_, screen) = asked(&args, "n\n");
        let expected = format!(
            "file_manager wants to run delete_file, which writes:\n  {{\"path\": \"\\u{{202e}}\\u{{9b}}2J{long}é\"}}\n[y]es, [n]o and why; anything else is what to change: "
        );
        assert_eq!(screen, expected);
    }

    #[test]
    fn changes_are_shown() {
        let mut request = request(r#"{"days":3}"#);
        request.repairs =
            RepairStep::new(ChangeKind::Coerced, "days", "\u{9b}2Jout of quotes").into();
        let mut screen = Vec::new();
        ask(&request, &mut "n\n".as_bytes(), &mut screen);
        let screen = String::from_utf8(screen).expect("text is shown");
        let lines: Vec<_> = screen.lines().collect();
        assert_eq!(
            lines[1..3],
            ["  {\"days\":3}", "  changed: days: \\u{9b}2Jout of quotes"]
        );
    }

    #[test]
    fn a_screen_that_is_gone_denies() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let approval = ask(&request("{}"), &mut "y\n".as_bytes(), &mut Gone);
        assert_eq!(approval, nobody());
    }

    #[tokio::test]
    async fn without_a_terminal_the_answer_is_no() {
        // A test that is run by hand may have a terminal.
        if !io::stdin().is_terminal() {
            assert_eq!(ask_me(request("{}")).await, nobody());
        }
    }
}
