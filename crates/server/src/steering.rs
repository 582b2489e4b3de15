//! Decisions and actions of visitors, as forms and JSON give them.

use crate::{
    failure::Failure,
    inert,
    posted::Posted,
    room::{Room, Visitor, hex},
    shown, wording,
};
use agents_core::{
    Code, Effects, Json,
    tool::{AnswerForm, choices_of},
};
use agents_runtime::{Approval, ExecutionRecord, ExecutionState, Finding, RequestDetail};
use serde::de::DeserializeOwned;
use serde_json::{Value, json, value::RawValue};
use std::collections::BTreeMap;

/// Name of the form field for all arguments, as JSON.
pub(crate) const ARGUMENTS: &str = "arguments";
/// Begin of the names of the form fields for single arguments: `argument.` and the argument's name.
pub(crate) const ARGUMENT: &str = "argument.";
/// Name of the field of an answer that is no object.
const ANSWER: &str = "answer";

/// Fields of a form by which a visitor decides about a request or calls a tool.
#[derive(Debug, Default)]
pub(crate) struct Form {
    decision: String,
    note: String,
    /// Arguments of the call as JSON, as the visitor submits them; empty if the form did not show them.
    arguments: String,
    /// Single arguments of the call by name, as the visitor submits them.
    fields: BTreeMap<String, String>,
    /// Tenant that a call is made for, which only the operator names.
    tenant: String,
    /// Key of the form, by which a form that is sent twice makes one call.
    once: String,
    /// Ids of the requests that the visitor has ticked.
    pub(crate) ids: Vec<String>,
}

impl Form {
    pub(crate) fn new(decision: &str, note: &str) -> Self {
        Form {
            decision: decision.to_owned(),
            note: note.to_owned(),
            ..Form::default()
        }
    }

    /// Returns a form that calls a tool with these arguments.
    pub(crate) fn of_call(arguments: &str, tenant: &str, once: &str) -> Self {
        Form {
            arguments: arguments.to_owned(),
            tenant: tenant.to_owned(),
            once: once.to_owned(),
            ..Form::default()
        }
    }

    /// Returns the word for the decision, as the form has it.
    pub(crate) fn decision(&self) -> &str {
        &self.decision
    }

    /// Reads the fields of a form. Browsers end lines with CR and LF.
    pub(crate) fn read(posted: &Posted) -> Self {
        let mut form = Form::default();
        let mut contents: Vec<String> = Vec::new();
        for (name, value) in posted.pairs() {
            let value = value.replace("\r\n", "\n");
            match name {
                "decision" => form.decision = value,
                "note" => form.note = value,
                "arguments" => form.arguments = value,
                "tenant" => form.tenant = value,
                "once" => form.once = value,
                "id" => form.ids.push(value),
                name => {
                    if let Some(argument) = name.strip_prefix(ARGUMENT) {
                        form.fields.insert(argument.to_owned(), value);
                    }
                }
            }
        }
        if !form.once.is_empty() {
            contents.extend([form.arguments.clone(), form.tenant.clone()]);
            contents.extend(
                form.fields
                    .iter()
                    .flat_map(|(name, value)| [name.clone(), value.clone()]),
            );
            form.once = once_of(&form.once, &contents);
        }
        form
    }

    /// Returns the decision about a request. `detail` is the request whose arguments the form has shown, if it has.
    pub(crate) fn approval(&self, detail: Option<&RequestDetail>) -> Result<Approval, Failure> {
        if self.decision == "answer" {
            let question = detail.and_then(|detail| detail.request.question.as_deref());
            let question = question.ok_or_else(|| Failure::invalid(wording::NO_QUESTION))?;
            return Ok(Approval::Answer {
                answer: self.answer(&question.form)?,
            });
        }
        let edited = match detail {
            Some(detail) => self.edited(detail)?,
            None if self.arguments.trim().is_empty() && self.fields.is_empty() => None,
            None => return Err(Failure::invalid(wording::EDITED_UNSEEN)),
        };
        let note = |default: &str| match self.note.trim() {
            "" => default.to_owned(),
            note => note.to_owned(),
        };
        match (&*self.decision, edited) {
            ("approve", Some(args)) => Ok(Approval::ApproveWith { args }),
            ("deny" | "revise", Some(_)) => Err(Failure::invalid(wording::EDITED_IN_VAIN)),
            ("approve", None) => Ok(Approval::Approve),
            ("deny", None) => Ok(Approval::Deny {
                reason: note(wording::DENIED),
            }),
            ("revise", None) => Ok(Approval::Revise {
                note: note(wording::REVISE),
            }),
            _ => Err(Failure::invalid(wording::NO_DECISION)),
        }
    }

    /// Returns the answer to a question, from its fields.
    fn answer(&self, form: &AnswerForm) -> Result<Json, Failure> {
        let (schema, is_object) = answer_schema(form);
        let given = with_fields(&schema, BTreeMap::new(), &self.fields)?;
        match (given, is_object) {
            (None, false) => Err(Failure::invalid(wording::missing_field(ANSWER))),
            (None, true) => Ok(Json::parse("{}").map_err(wording::unreadable_arguments)?),
            (Some(answer), true) => Ok(answer),
            (Some(fields), false) => {
                let answer = arguments(&fields).remove(ANSWER);
                let answer = answer.ok_or_else(|| wording::missing_field(ANSWER))?;
                Ok(Json::parse(answer.get()).map_err(wording::unreadable_arguments)?)
            }
        }
    }

    /// Returns what the visitor has written into the field for all arguments; `None` if the field is empty, or as it was
    /// shown for the arguments `before`.
    fn all_arguments(&self, before: Option<&Json>) -> Option<&str> {
        let as_shown = |text: &str| {
            before.is_some_and(|before| {
                text == sent(&inert::json(before)) || text == sent(before.as_str())
            })
        };
        let text = self.arguments.trim();
        (!text.is_empty() && !as_shown(text)).then_some(text)
    }

    /// Returns the arguments that the visitor has edited, either in the field for all arguments or in single fields;
    /// `None` if nothing was edited.
    fn edited(&self, detail: &RequestDetail) -> Result<Option<Json>, Failure> {
        let before = &detail.request.args;
        let all = self.all_arguments(Some(before));
        let all = all.map(parsed_arguments).transpose()?;
        let fields = match &detail.schema {
            Some(schema) => with_fields(schema, arguments(before), &self.fields)?,
            None => None,
        };
        match (all, fields) {
            (Some(_), Some(_)) => Err(Failure::invalid(wording::EDITED_TWICE).at(ARGUMENTS)),
            (all, fields) => Ok(all.or(fields)),
        }
    }

    /// Returns the failure with the field that it is about: the field for all arguments if that one was edited, or else
    /// the argument that the message names. `before` are the arguments that the form has shown.
    pub(crate) fn placed(&self, failure: Failure, before: Option<&Json>) -> Failure {
        let is_named = |name: &&String| failure.message.contains(&format!("`{name}`"));
        match self.fields.keys().find(is_named) {
            _ if failure.field.is_some() => failure,
            Some(_) if self.all_arguments(before).is_some() => failure.at(ARGUMENTS),
            Some(name) => {
                let field = format!("{ARGUMENT}{name}");
                failure.at(field)
            }
            None => failure,
        }
    }
}

impl Form {
    /// Returns the arguments of a new call: those of the single fields, or the JSON of the field for all. Fields that
    /// were shown and have to be filled in are not empty, unless there is that JSON.
    fn new_arguments(&self, schema: &Value) -> Result<Json, Failure> {
        let all = self.all_arguments(None).map(parsed_arguments).transpose()?;
        match (all, with_fields(schema, BTreeMap::new(), &self.fields)?) {
            (Some(_), Some(_)) => Err(Failure::invalid(wording::EDITED_TWICE).at(ARGUMENTS)),
            (Some(all), None) => Ok(all),
            (None, given) => {
                let is_left_out = |field: &Field<'_>| {
                    let text = self.fields.get(field.name);
                    field.is_required && text.is_some_and(String::is_empty)
                };
                let fields = fields(schema, &BTreeMap::new());
                if let Some(field) = fields.into_iter().find(is_left_out) {
                    return Err(field.failure(wording::missing_field(field.name)));
                }
                let none = || Json::parse("{}").map_err(wording::unreadable_arguments);
                Ok(given.map_or_else(none, Ok)?)
            }
        }
    }
}

/// Returns the key by which a repetition of what a form asks for is recognised. A form that is sent again with other
/// contents asks for something else, and has another key.
pub(crate) fn once_of(once: &str, contents: &[impl AsRef<str>]) -> String {
    let mut digest = hmac_sha256::Hash::new();
    digest.update(once);
    for part in contents {
        let part = part.as_ref();
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    hex(&digest.finalize()[..16])
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::invalid(message)
    }
}

/// Reads the JSON of the form field for all arguments.
fn parsed_arguments(text: &str) -> Result<Json, Failure> {
    let unreadable = |error| Failure::invalid(wording::unreadable_arguments(error)).at(ARGUMENTS);
    Json::parse(text).map_err(unreadable)
}

/// Returns a text in the form in which a browser sends it back from a field that nobody has edited, with its line
/// breaks as one character. By that, an edit is recognised.
fn sent(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    lines.replace('\0', "\u{fffd}")
}

/// Argument that a form shows in a field of its own.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: Kind<'a>,
    pub(crate) description: Option<&'a str>,
    pub(crate) is_required: bool,
    /// Text that the field begins with; `None` if the call has no such argument.
    pub(crate) text: Option<String>,
}

impl Field<'_> {
    /// Returns the failure of a form in which this field does not fit.
    fn failure(&self, message: String) -> Failure {
        Failure::invalid(message).at(format!("{ARGUMENT}{}", self.name))
    }
}

/// Kind of a field: it decides which element of the form the field is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    Text,
    Number,
    Integer,
    Bool,
    /// Choice of these strings.
    OneOf(Vec<&'a str>),
    /// Any other value, as JSON.
    Json,
}

/// Returns the form fields for the arguments of a request, as the tool's schema names them.
pub(crate) fn fields<'a>(
    schema: &'a Value,
    args: &BTreeMap<String, Box<RawValue>>,
) -> Vec<Field<'a>> {
    let properties = schema["properties"].as_object();
    let required = schema["required"].as_array();
    let field = |(name, property): (&'a String, &'a Value)| {
        let kind = kind(schema, property);
        let text = args.get(name).map(|value| match (&kind, value.get()) {
            (Kind::Text | Kind::OneOf(_), text) => match serde_json::from_str(text) {
                Ok(text) => text,
                Err(_) => text.to_owned(),
            },
            (Kind::Json, _) => {
                inert::json(&Json::parse(value.get()).unwrap_or_else(|_| Json::string("")))
            }
            (_, text) => text.to_owned(),
        });
        Field {
            name,
            kind,
            description: property["description"].as_str(),
            is_required: required.is_some_and(|names| names.iter().any(|one| one == name)),
            text,
        }
    };
    properties.into_iter().flatten().map(field).collect()
}

/// Returns the kind of a field. `root` is the schema whose definitions the field's own schema may name.
fn kind<'a>(root: &'a Value, property: &'a Value) -> Kind<'a> {
    let property = resolved(root, property);
    let choices = choices_of(property);
    if !choices.is_empty() {
        return Kind::OneOf(choices);
    }
    if property.get("enum").is_some() {
        return Kind::Json;
    }
    match property["type"].as_str() {
        Some("string") => Kind::Text,
        Some("number") => Kind::Number,
        Some("integer") => Kind::Integer,
        Some("boolean") => Kind::Bool,
        _ => Kind::Json,
    }
}

/// Returns the definition that a schema names, or the schema itself.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let alone = match schema["allOf"].as_array().map(Vec::as_slice) {
        Some([one]) => one,
        _ => schema,
    };
    let named = alone["$ref"].as_str();
    let named = named.and_then(|name| root.pointer(name.strip_prefix('#')?));
    named.unwrap_or(alone)
}

/// Returns the schema of the object that people fill in to answer a question, and whether the answer is this object. If
/// not, the answer is the field `answer` of the object.
pub(crate) fn answer_schema(form: &AnswerForm) -> (Value, bool) {
    let schema = &form.schema;
    if schema["properties"].is_object() {
        return (schema.clone(), true);
    }
    let mut only = schema.clone();
    let definitions = only
        .as_object_mut()
        .and_then(|only| only.remove("definitions"));
    let mut object = json!({
        "type": "object",
        "properties": { ANSWER: only },
        "required": [ANSWER],
    });
    if let Some(definitions) = definitions {
        object["definitions"] = definitions;
    }
    (object, false)
}

/// Returns the fields of an answer, one by one.
pub(crate) fn answer_fields(answer: &Json, is_object: bool) -> BTreeMap<String, Box<RawValue>> {
    match is_object {
        true => arguments(answer),
        false => answer
            .to()
            .map(|answer| BTreeMap::from([(ANSWER.to_owned(), answer)]))
            .unwrap_or_default(),
    }
}

/// Returns the arguments of a request, one by one; none if they are no object.
pub(crate) fn arguments(args: &Json) -> BTreeMap<String, Box<RawValue>> {
    args.to().unwrap_or_default()
}

/// Returns the arguments, in which the fields that the visitor has changed replace the earlier values; `None` if
/// nothing was changed.
fn with_fields(
    schema: &Value,
    mut args: BTreeMap<String, Box<RawValue>>,
    given: &BTreeMap<String, String>,
) -> Result<Option<Json>, Failure> {
    let mut is_edited = false;
    for field in fields(schema, &args.clone()) {
        let Some(text) = given.get(field.name) else {
            continue;
        };
        if field
            .text
            .as_ref()
            .map_or(text.is_empty(), |before| sent(before) == *text)
        {
            continue;
        }
        is_edited = true;
        match written(&field, text)? {
            Some(value) => args.insert(field.name.to_owned(), value),
            None => args.remove(field.name),
        };
    }
    let edited = is_edited.then(|| Json::of(&args)).transpose();
    edited.map_err(|error| Failure::invalid(wording::unreadable_arguments(error)))
}

/// Returns the value that the text in a field stands for; `None` for an argument that is left out.
fn written(field: &Field<'_>, text: &str) -> Result<Option<Box<RawValue>>, Failure> {
    let unreadable = || field.failure(wording::unreadable_field(field.name, field.kind.word()));
    let raw = |text: String| match RawValue::from_string(text) {
        Ok(value) if field.kind.has(value.get()) => Ok(Some(value)),
        _ => Err(unreadable()),
    };
    match &field.kind {
        Kind::Text => raw(Value::from(text).to_string()),
        Kind::OneOf(values) if values.contains(&text) => raw(Value::from(text).to_string()),
        _ if text.trim().is_empty() => match field.is_required {
            true => Err(field.failure(wording::missing_field(field.name))),
            false => Ok(None),
        },
        _ => raw(text.trim().to_owned()),
    }
}

impl Kind<'_> {
    /// Returns `true` if a field of this kind may have this JSON, as far as its kind says.
    fn has(&self, json: &str) -> bool {
        let is_number = json.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        match self {
            Kind::Text | Kind::Json => true,
            Kind::Number => is_number,
            Kind::Integer if json.contains(['.', 'e', 'E']) => {
                json.parse().is_ok_and(|number: f64| number.fract() == 0.0)
            }
            Kind::Integer => is_number,
            Kind::Bool => matches!(json, "true" | "false"),
            Kind::OneOf(values) => {
                let word: Result<String, _> = serde_json::from_str(json);
                word.is_ok_and(|word| values.contains(&&*word))
            }
        }
    }

    /// Returns the word by which errors about a field name its kind: `string`, `number`, `integer`, `boolean`, `choice`
    /// or `JSON`.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::Number => "number",
            Kind::Integer => "integer",
            Kind::Bool => "boolean",
            Kind::OneOf(_) => "choice",
            Kind::Json => "JSON",
        }
    }
}

/// Takes an action of a visitor on a run, such as to pause it.
pub(crate) async fn steer(
    room: &Room,
    visitor: &Visitor,
    run: &str,
    action: &str,
    text: &str,
) -> Result<(), Failure> {
    let (client, by) = (&room.client, &visitor.principal);
    match action {
        "say" => {
            let said = client.say(run, text.trim()).by(by).await;
            said.map_err(|error| Failure::from(error).at("text"))?;
        }
        "pause" => client.pause(run, by).await?,
        "release" if text.trim().is_empty() => client.release(run, by).await?,
        "release" => client.release_with_model(run, text.trim(), by).await?,
        "cancel" => client.cancel(run, by).await?,
        _ => return Err(Failure::invalid(wording::NO_ACTION)),
    }
    Ok(())
}

/// Tool that a visitor calls: the name of its agent, its name and its version.
pub(crate) type Callee<'a> = (&'a str, &'a str, &'a str);

/// Calls a tool with the arguments of a form. Returns the id of the run in which the call is made.
pub(crate) async fn call(
    room: &Room,
    visitor: &Visitor,
    callee: Callee<'_>,
    form: &Form,
) -> Result<String, Failure> {
    let tool = shown::tools::known(room, callee).await?;
    let about = tool.description.as_deref();
    let about = about.filter(|_| !matches!(tool.status, "gone" | "blocked"));
    let about = about.ok_or_else(|| Failure::invalid(wording::NOT_CALLABLE))?;
    let args = form.new_arguments(&about.input_schema)?;
    let (agent, name, version) = callee;
    let call = room.client.call(agent, name, version, args);
    // Whoever belongs to a tenant calls for it.
    let call = match (visitor.tenant(), form.tenant.trim()) {
        (None, tenant) if !tenant.is_empty() => call.scope(tenant),
        _ => call,
    };
    let call = match form.once.trim() {
        "" => call,
        once => call.key(once),
    };
    Ok(call.by(&visitor.principal).await?.id().to_owned())
}

/// Result that a call has in a variation of its run: an output or an error.
pub(crate) enum Otherwise {
    Output(Json),
    Error(Code, String),
}

impl Otherwise {
    /// Reads that result from the fields of a form: an output as JSON, or the code of an error with its message.
    pub(crate) fn read(output: &str, code: &str, message: String) -> Result<Self, Failure> {
        match (output.trim(), code.trim()) {
            ("", "") => Err(Failure::invalid(wording::NO_OTHER_RESULT).at("output")),
            ("", word) => match Code::ALL.into_iter().find(|code| code.as_str() == word) {
                Some(code) => Ok(Otherwise::Error(code, message)),
                None => {
                    let known = Code::ALL.map(Code::as_str);
                    Err(Failure::invalid(wording::unknown_word(
                        "code", word, &known,
                    )))
                }
            },
            (output, "") => Json::parse(output)
                .map(Otherwise::Output)
                .map_err(|error| Failure::invalid(wording::unreadable_output(error)).at("output")),
            _ => Err(Failure::invalid(wording::NO_OTHER_RESULT).at("output")),
        }
    }
}

/// Starts a variation of a run that is over, in which a call has another result. Returns the id of the run that tells
/// the outcome.
pub(crate) async fn vary(
    room: &Room,
    visitor: &Visitor,
    run: &str,
    call: &str,
    result: Otherwise,
    once: &str,
) -> Result<String, Failure> {
    // Only whoever may see the contents of the run finds the call.
    shown::calls::receipt(room, visitor, run, call).await?;
    let what_if = room.client.what_if(run, call);
    let changed = match result {
        Otherwise::Output(output) => what_if.output(output),
        Otherwise::Error(code, message) => what_if.error(code, message),
    };
    let changed = match once.trim() {
        "" => changed,
        once => changed.key(once),
    };
    Ok(changed.by(&visitor.principal).await?.id().to_owned())
}

/// Takes an action of a visitor on an execution: settles its doubt, or asks for its undo. Returns the id of the run
/// that undoes it, if there is one.
pub(crate) async fn act(
    room: &Room,
    visitor: &Visitor,
    run: &str,
    id: &str,
    action: &str,
    note: &str,
) -> Result<Option<String>, Failure> {
    let (client, by) = (&room.client, &visitor.principal);
    // An execution of another run is not found here.
    let executed = shown::runs::execution(room, visitor, run, id).await?;
    let finding = match action {
        "took_effect" => Finding::took_effect(),
        "had_no_effect" => Finding::had_no_effect(),
        "undo" => {
            if let Some(why) = not_undoable(&executed.execution) {
                return Err(Failure::invalid(why));
            }
            let undo = client.ask_undo(id, by).await?;
            return Ok(undo.map(|undo| undo.id().to_owned()));
        }
        _ => return Err(Failure::invalid(wording::NO_FINDING)),
    };
    let finding = match note.trim() {
        "" => finding,
        note => finding.note(note),
    };
    let settled = client.doubts().settle(id, finding, by).await;
    settled.map_err(|error| Failure::from(error).at("note"))?;
    Ok(None)
}

/// Words for the status that a visitor can give a cluster of failures.
const VERDICTS: [&str; 3] = ["dismissed", "escalate", "wait"];

/// Replays a dead letter. Returns the id of the run that goes on, if the letter is a run that is held.
pub(crate) async fn replay(
    room: &Room,
    visitor: &Visitor,
    id: &str,
    reason: &str,
) -> Result<Option<String>, Failure> {
    let (client, by) = (&room.client, &visitor.principal);
    let replayed = client.letters().replay(id, reason, by).await;
    replayed.map_err(|error| Failure::from(error).at("reason"))?;
    let run = client.stored(id, by).await;
    Ok(run.ok().map(|run| run.id))
}

/// Sets the status of a cluster of failures.
pub(crate) async fn triage(
    room: &Room,
    visitor: &Visitor,
    id: &str,
    status: &str,
    notes: &str,
) -> Result<(), Failure> {
    let status = shown::failures::known("status", status, &VERDICTS)?;
    let status = status.ok_or_else(|| Failure::invalid(wording::NO_TRIAGE))?;
    let failures = room.client.failures();
    let triaged = failures.triage(id, status, notes, &visitor.principal);
    triaged
        .await
        .map_err(|error| Failure::from(error).at("notes"))
}

/// Returns why an execution cannot be undone, as far as that is known without its tool; `None` if it may be undone.
pub(crate) fn not_undoable(execution: &ExecutionRecord) -> Option<&'static str> {
    use ExecutionState::{InDoubt, Undone};
    match execution {
        _ if execution.may_be_undone() => None,
        ExecutionRecord { state: Undone, .. } => Some(wording::UNDONE_BEFORE),
        ExecutionRecord { state: InDoubt, .. } => Some(wording::DOUBT_FIRST),
        ExecutionRecord { effects: None, .. } => Some(wording::NOT_READABLE),
        ExecutionRecord {
            effects: Some(Effects::None | Effects::Reads),
            ..
        } => Some(wording::NOTHING_TO_UNDO),
        ExecutionRecord {
            irreversible: Some(true),
            ..
        } => Some(wording::NO_WAY_BACK),
        ExecutionRecord {
            has_undo: Some(false),
            ..
        } => Some(wording::NO_UNDO),
        _ => Some(wording::WITHOUT_OUTPUT),
    }
}

/// Reads the state that a word of a query names; `None` for all states.
pub(crate) fn state<T: DeserializeOwned>(word: Option<&str>) -> Result<Option<T>, Failure> {
    let Some(word) = word.filter(|word| !word.is_empty()) else {
        return Ok(None);
    };
    let read = serde_json::from_value(Value::from(word));
    read.map(Some)
        .map_err(|_| Failure::invalid(wording::unknown_status(word)))
}

/// Returns the number of entries of a full page, for this limit of a query; 0 stands for 100.
pub(crate) fn size(limit: u32) -> usize {
    match limit {
        0 => 100,
        limit => limit as usize,
    }
}
