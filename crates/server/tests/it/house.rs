//! A store with runs that wait, and a browser without JavaScript.

use crate::room::payer;
use agents_control::ControlPlane;
use agents_runtime::{AgentRef, Client, Principal, Progress, Roles, Runtime, SqliteStore};
use agents_server::ControlRoom;
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, Response, StatusCode, header, request::Parts},
};
use serde_json::Value;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Control room of a house, and its runs.
pub(crate) struct House {
    pub(crate) runtime: Runtime,
    payer: AgentRef<String, String>,
    pub(crate) clerk: Option<AgentRef<String, String>>,
    pub(crate) app: Router,
}

/// Answer of the control room.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) head: Response<()>,
    pub(crate) body: String,
}

/// Reads the principal from a header, as `TENANT/NAME/ROLE`, or `operator`.
fn signed_in(request: &Parts) -> Option<Principal> {
    let who = request.headers.get("x-user")?.to_str().ok()?;
    if who == "operator" {
        return Some(Principal::operator());
    }
    let mut parts = who.split('/');
    let (tenant, name) = (parts.next()?, parts.next()?);
    let principal = Principal::new(name, tenant);
    Some(parts.fold(principal, Principal::role))
}

impl House {
    /// Creates a house without runs, and with a worker.
    pub(crate) async fn new(roles: Roles) -> House {
        let runtime = Runtime::open(SqliteStore::in_memory().await.unwrap()).roles(roles);
        let house = House::of(runtime, None);
        tokio::spawn(house.runtime.clone().work(CancellationToken::new()));
        house
    }

    /// Creates the house of a runtime, without a worker.
    pub(crate) fn of(runtime: Runtime, control: Option<&ControlPlane>) -> House {
        let room = ControlRoom::of(runtime.as_client()).agent("payer");
        let room = match control {
            Some(control) => room.control(control),
            None => room,
        };
        House::with(runtime, room)
    }

    /// Creates the house of a runtime with this control room, without a worker.
    pub(crate) fn with(runtime: Runtime, room: ControlRoom) -> House {
        let app = agents_server::router(room, signed_in);
        let payer = runtime.agent(payer());
        House {
            runtime,
            payer,
            clerk: None,
            app,
        }
    }

    /// Returns the clerk of the houses that have one.
    pub(crate) fn clerk(&self) -> AgentRef<String, String> {
        self.clerk.clone().unwrap()
    }

    pub(crate) fn client(&self) -> &Client {
        self.runtime.as_client()
    }

    /// Starts a run of this tenant that asks whether it may pay with these arguments, and waits until it has asked.
    pub(crate) async fn ask(&self, tenant: &str, args: &str) -> agents_runtime::Request {
        let run = self.payer.run(args).scope(tenant).start().await.unwrap();
        for _ in 0..3_000 {
            match run.progress().await.unwrap() {
                Progress::Waiting(mut requests) => {
                    if let Some(request) = requests.pop() {
                        return request;
                    }
                }
                Progress::Done(outcome) => panic!("the run is over: {:?}", outcome.result),
                _ => {}
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the run does not ask");
    }

    /// Sends a request.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let answer = self.app.clone().oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        let body = to_bytes(body, 10_000_000).await.unwrap();
        Answer {
            status: parts.status,
            head: Response::from_parts(parts, ()),
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    /// Sends a request, and returns the status alone: the answer may never end.
    pub(crate) async fn app_status(&self, request: Request<Body>) -> StatusCode {
        self.app.clone().oneshot(request).await.unwrap().status()
    }

    /// Loads a page as somebody.
    pub(crate) async fn get(&self, who: &str, path: &str) -> Answer {
        let request = Request::get(path).header("x-user", who);
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// Sends a form as somebody.
    pub(crate) async fn post(&self, who: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let pair = |(name, value): &(&str, &str)| {
            let encoded = |text: &str| {
                percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC)
                    .to_string()
            };
            format!("{}={}", encoded(name), encoded(value))
        };
        let body: Vec<_> = fields.iter().map(pair).collect();
        let request = Request::post(path)
            .header("x-user", who)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.send(request.body(Body::from(body.join("&"))).unwrap())
            .await
    }

    /// Decides about a request in the form of the inbox, as a browser sends it. Whoever is given no form makes one up.
    pub(crate) async fn decide(
        &self,
        who: &str,
        id: &str,
        decision: &str,
        edit: &[(&str, &str)],
    ) -> Answer {
        let page = self.get(who, &format!("/approvals/{id}")).await;
        let mut fields = match page.body.contains("class=\"decision\"") {
            true => fields(&page.body),
            false => vec![("token".to_owned(), self.token(who).await)],
        };
        for (name, value) in edit {
            fields.retain(|(own, _)| own != name);
            fields.push(((*name).to_owned(), (*value).to_owned()));
        }
        fields.push(("decision".to_owned(), decision.to_owned()));
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        self.post(who, &format!("/approvals/{id}"), &fields).await
    }

    /// Returns the token of somebody's forms, from the page of a run that waits.
    pub(crate) async fn token(&self, who: &str) -> String {
        let tenant = who.split('/').next().unwrap();
        let request = self.ask(tenant, r#"{"amount": 1}"#).await;
        let page = self.get(who, &format!("/runs/{}", request.run_id)).await;
        attribute(&page.body, "name=\"token\" value").to_owned()
    }

    /// Sends JSON as somebody.
    pub(crate) async fn post_json(&self, who: &str, path: &str, body: &Value) -> Answer {
        let request = Request::post(path)
            .header("x-user", who)
            .header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap())
            .await
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Returns the text of an attribute of the first element that has it.
pub(crate) fn attribute<'a>(page: &'a str, name: &str) -> &'a str {
    let begin = format!("{name}=\"");
    let (_, rest) = page.split_once(&begin).unwrap();
    rest.split_once('"').unwrap().0
}

/// Returns the fields of the first form for a decision, as a browser would send them.
pub(crate) fn fields(page: &str) -> Vec<(String, String)> {
    fields_of(page, "<form class=\"decision\"")
}

/// Returns the fields of the first form that begins like this, as a browser would send them.
pub(crate) fn fields_of(page: &str, begin: &str) -> Vec<(String, String)> {
    let (_, form) = page.split_once(begin).unwrap();
    let (form, _) = form.split_once("</form>").unwrap();
    let plain = |text: &str| {
        let text = text
            .replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&gt;", ">");
        text.replace("&amp;", "&")
    };
    let mut fields = Vec::new();
    for tag in form
        .split('<')
        .filter(|tag| tag.starts_with("input") || tag.starts_with("textarea"))
    {
        let (attributes, text) = tag.split_once('>').unwrap();
        let value = match tag.starts_with("input") {
            true if !attributes.contains("value=\"") => "",
            true => attribute(attributes, "value"),
            false => text,
        };
        // A browser drops the first line break of a text field, ends all lines with CR and LF, and shows no NUL.
        let value = plain(value);
        let value = match tag.starts_with("textarea") {
            true => value.strip_prefix('\n').unwrap_or(&value),
            false => &value,
        };
        let lines = value.replace("\r\n", "\n").replace('\r', "\n");
        let value = lines.replace('\n', "\r\n").replace('\0', "\u{fffd}");
        fields.push((plain(attribute(attributes, "name")), value));
    }
    fields
}
