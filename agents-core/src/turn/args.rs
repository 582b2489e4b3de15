//! Stage 2: the arguments, from the text a model wrote to values that fit.
//!
//! Strictly first. If that fails, and nobody asked for strictness, once more as leniently as the
//! schema allows; every change is reported. What is still wrong becomes a [`ToolError`].

use crate::{
    Json,
    brain::{Arms, Brain},
    error::{self, ArgumentError, Cause, ToolError},
    json,
    policy::Verdict,
    reader::{self, Change, ChangeKind, Refusal, RefusalKind, Repairs},
    run::{RunContext, Timestamp},
    tool::{self, DynTool, Prepared, SharedTool, ToolContext},
    turn::{doubt, guard, remembered::round_of},
};
use std::time::{Duration, UNIX_EPOCH};

/// What one call is read and recovered by.
pub(crate) struct Rules<'a> {
    brain: &'a Brain<'a>,
    tool: &'a SharedTool,
    context: &'a ToolContext,
    strict: bool,
    max_bytes: usize,
}

impl<'a> Rules<'a> {
    pub(super) fn new(
        brain: &'a Brain<'a>,
        tool: &'a SharedTool,
        context: &'a ToolContext,
    ) -> Self {
        let settings = &context.cx.root.settings;
        let strict = brain.strict || settings.strict || tool.spec().strict;
        Rules {
            brain,
            tool,
            context,
            strict,
            max_bytes: settings.max_argument_bytes,
        }
    }

    pub(super) fn tool(&self) -> &SharedTool {
        self.tool
    }

    pub(super) fn arms(&self) -> &Arms<'a> {
        &self.brain.arms
    }

    /// The time after a wait, in milliseconds since 1970: never before it is over, or whoever said how long it takes
    /// would be asked too early.
    pub(crate) fn after(&self, wait: Duration) -> u64 {
        let now = UNIX_EPOCH.elapsed().unwrap_or_default();
        let millis = |time: Duration| u64::try_from(time.as_nanos().div_ceil(1_000_000));
        match wait.is_zero() {
            true => 0,
            false => millis(now.saturating_add(wait)).unwrap_or(u64::MAX),
        }
    }

    /// How long it is until then.
    pub(crate) fn until(&self, millis: u64) -> Duration {
        Timestamp::from_millis(millis).since(Timestamp::now())
    }

    pub(super) fn cx(&self) -> &RunContext {
        &self.context.cx
    }

    /// A number from 0 to 1: by chance, but the same when the run is replayed.
    pub(crate) fn chance(&self) -> f64 {
        let cx = self.cx();
        let mut digest = hmac_sha256::Hash::new();
        digest.update(cx.run_id());
        digest.update(cx.step_place());
        digest.update(round_of(cx).to_le_bytes());
        let [a, b, c, d, ..] = digest.finalize();
        f64::from(u32::from_le_bytes([a, b, c, d])) / f64::from(u32::MAX)
    }
}

/// Arguments that fit.
pub(crate) struct Accepted {
    /// As text: what the receipt shows and a reload reads.
    pub(crate) args: Json,
    /// As values, ready to run.
    pub(crate) prepared: Prepared,
    /// What was changed on the way.
    pub(crate) repairs: Repairs,
    /// Somebody has to approve this very call.
    pub(crate) approval: bool,
    /// Why a rule of the run refuses it.
    pub(crate) denied: Option<String>,
}

/// Arguments that do not fit.
pub(crate) struct Refused {
    /// What is wrong.
    pub(crate) error: ToolError,
    /// The text that it is said of: what was read, if an object was.
    pub(crate) text: String,
    /// What reading changed to get there.
    pub(crate) repairs: Repairs,
}

/// Reads the arguments of a call.
pub(crate) fn read(rules: &Rules<'_>, raw: &str) -> Result<Accepted, Box<Refused>> {
    let tool = &**rules.tool;
    if raw.len() > rules.max_bytes {
        return Err(refused(
            too_long(tool, raw, rules.max_bytes),
            raw,
            Repairs::default(),
        ));
    }
    if let Some(at) = json::too_deep(raw) {
        let error = ToolError::InvalidArgs {
            raw_args: raw.to_owned(),
            parse_error: reader::too_deep(at).to_string(),
            expected_schema: tool.spec().input_schema.clone(),
        };
        return Err(refused(error, raw, Repairs::default()));
    }
    let misfit = match accept(rules, raw, Repairs::default()) {
        Ok(accepted) => return Ok(accepted),
        Err(misfit) => misfit,
    };
    if let Some(repairs) = nothing_meant(rules, raw) {
        return accept(rules, "{}", repairs).map_err(|misfit| described(rules, raw, misfit));
    }
    if rules.strict || matches!(raw.trim(), "" | "null") {
        return Err(described(rules, raw, misfit));
    }
    match reader::read(raw, &tool.spec().input_schema) {
        Ok(reading) => match doubt::of(tool.spec(), &reading.repairs) {
            Some(doubt) => Err(refused(
                doubt::told(tool.spec(), raw, doubt),
                raw,
                Repairs::default(),
            )),
            None => accept(rules, &reading.json, reading.repairs.clone()).map_err(|misfit| {
                refused(
                    describe(rules, &reading.json, misfit),
                    &reading.json,
                    reading.repairs,
                )
            }),
        },
        Err(_) if is_object(raw) => Err(described(rules, raw, misfit)),
        Err(refusal) => Err(unshaped(rules, raw).unwrap_or_else(|| {
            let error = ToolError::InvalidArgs {
                raw_args: raw.to_owned(),
                parse_error: unread(raw, &refusal),
                expected_schema: tool.spec().input_schema.clone(),
            };
            refused(error, raw, Repairs::default())
        })),
    }
}

/// Why a text cannot be read. What broke off does not lack a field, nor is its last value a wrong one.
fn unread(raw: &str, refusal: &Refusal) -> String {
    let ended =
        |repairs: &Repairs| repairs.any(ChangeKind::Closed) || repairs.any(ChangeKind::CutOff);
    match reader::lenient(raw) {
        Ok(reading) if ended(&reading.repairs) => {
            format!(
                "the text broke off ({refusal}): send the whole object again, to its closing bracket"
            )
        }
        // It is the text that is at fault: of a whole object its fields would be.
        _ if refusal.kind() == RefusalKind::Mismatch => {
            format!(
                "what can be made out in the text does not fit ({refusal}): send one whole object"
            )
        }
        _ => refusal.to_string(),
    }
}

/// An object stands in the text, whole, but it does not fit: a field is at fault, not the text.
fn unshaped(rules: &Rules<'_>, raw: &str) -> Option<Box<Refused>> {
    let reading = reader::lenient(raw).ok()?;
    let lacking = [ChangeKind::Closed, ChangeKind::CutOff, ChangeKind::Brackets];
    let whole = !lacking.iter().any(|kind| reading.repairs.any(*kind));
    let misfit = rules
        .tool
        .prepare(&reading.json)
        .err()
        .filter(|_| whole && is_object(&reading.json))?;
    let error = describe(rules, &reading.json, misfit);
    Some(refused(error, &reading.json, reading.repairs))
}

fn refused(error: ToolError, text: &str, repairs: Repairs) -> Box<Refused> {
    Box::new(Refused {
        error,
        text: text.to_owned(),
        repairs,
    })
}

fn described(rules: &Rules<'_>, raw: &str, misfit: ArgumentError) -> Box<Refused> {
    refused(describe(rules, raw, misfit), raw, Repairs::default())
}

fn accept(rules: &Rules<'_>, text: &str, repairs: Repairs) -> Result<Accepted, ArgumentError> {
    let prepared = rules.tool.prepare(text)?;
    if let Some(schema) = rules.tool.spec().constraints() {
        schema.fits(text)?;
    }
    let args = Json::parse(text).map_err(|error| ArgumentError::new("", error.to_string()))?;
    let Rules {
        brain,
        tool,
        context,
        ..
    } = *rules;
    let verdict = guard::judge(brain, &context.cx, tool.spec(), Some(&args));
    let approval =
        verdict == Verdict::Confirm || guard::needs_approval(brain, tool, &prepared, context);
    let denied = match verdict {
        Verdict::Deny { reason } => Some(reason),
        Verdict::Allow | Verdict::Confirm => None,
    };
    Ok(Accepted {
        args,
        prepared,
        repairs,
        approval,
        denied,
    })
}

/// A tool without arguments is called with `{}`, with nothing, or with `null`: all mean the same.
fn nothing_meant(rules: &Rules<'_>, raw: &str) -> Option<Repairs> {
    let tool = &**rules.tool;
    let nothing = matches!(raw.trim(), "" | "null" | "[]" | "\"\"");
    (!rules.strict && nothing && tool.spec().takes_nothing()).then(|| {
        Repairs::from(Change::new(
            ChangeKind::Coerced,
            "",
            "no arguments read as `{}`",
        ))
    })
}

/// Says what is wrong with arguments that do not fit, naming the fields.
fn describe(rules: &Rules<'_>, raw: &str, misfit: ArgumentError) -> ToolError {
    let spec = rules.tool.spec();
    if !is_object(raw) {
        return ToolError::InvalidArgs {
            raw_args: raw.to_owned(),
            parse_error: not_an_object(raw, &misfit),
            expected_schema: spec.input_schema.clone(),
        };
    }
    let mut first = tool::of_the_field(misfit, &spec.input_schema, raw);
    if !rules.strict {
        first = tool::at_fault(first, &spec.input_schema, raw);
    }
    let first = tool::as_read(first, &spec.input_schema, raw, !rules.strict);
    let all = tool::misfits(&first, &spec.input_schema, raw, !rules.strict);
    let first = tool::with_expectation(first, &spec.input_schema, raw);
    ToolError::Deserialization {
        raw_value: raw.to_owned(),
        path: first.path,
        target_type: spec.name.to_string(),
        cause: Cause::misfit(first.message, all),
    }
}

fn not_an_object(raw: &str, misfit: &ArgumentError) -> String {
    match raw.trim().bytes().next() {
        None => "they are empty; send a JSON object".into(),
        Some(b'n') if raw.trim() == "null" => "they are `null`; send a JSON object".into(),
        Some(b'[') => format!(
            "they are a list, or begin like one; send a JSON object ({})",
            misfit.message
        ),
        _ => format!("they are not a JSON object: {}", misfit.message),
    }
}

fn too_long(tool: &dyn DynTool, raw: &str, limit: usize) -> ToolError {
    ToolError::InvalidArgs {
        raw_args: error::shorten(raw),
        parse_error: format!(
            "they are {} bytes long, and {limit} are allowed; send less",
            raw.len()
        ),
        expected_schema: tool.spec().input_schema.clone(),
    }
}

pub(super) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
