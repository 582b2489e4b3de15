//! Forms: which server takes them, and what becomes of one that does not fit.

use crate::{
    house::{Answer, House, attribute, fields_of},
    letters::Post,
    room::folder,
    runs::paid,
};
use agents_runtime::{Principal, Roles, Runtime, SqliteStore};
use axum::http::StatusCode;
use std::fs;
use tokio_util::sync::CancellationToken;

/// Returns the form on a page that begins like this, as text.
fn form<'a>(page: &'a str, begin: &str) -> &'a str {
    let (_, form) = page.split_once(begin).unwrap_or_else(|| panic!("{page}"));
    form.split_once("</form>").unwrap().0
}

/// Sends the form of a page with these fields in the place of its own.
async fn send(house: &House, who: &str, path: &str, begin: &str, typed: &[(&str, &str)]) -> Answer {
    let page = house.get(who, path).await.body;
    assert!(page.contains(begin), "{path}: {page}");
    let mut fields = fields_of(&page, begin);
    fields.retain(|(name, _)| typed.iter().all(|(own, _)| own != name));
    let given = typed
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    fields.extend(given);
    let (_, tag) = page.split_once(begin).unwrap();
    let action = attribute(tag, "action").to_owned();
    let fields: Vec<_> = fields.iter().map(|(a, b)| (&**a, &**b)).collect();
    house.post(who, &action, &fields).await
}

/// Checks that an answer has the form again, with what was typed, and the reason at this field.
fn is_mended_in(answer: &Answer, begin: &str, field: &str, typed: &[&str]) {
    assert_eq!(
        answer.status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{}",
        answer.body
    );
    let form = form(&answer.body, begin);
    for text in typed {
        assert!(form.contains(text), "{text}: {form}");
    }
    let (_, wrong) = form
        .split_once(&format!("name=\"{field}\""))
        .unwrap_or_else(|| panic!("{form}"));
    let tag = wrong.split('>').next().unwrap();
    assert!(tag.contains("aria-invalid=\"true\""), "{field}: {form}");
    let told = attribute(tag, "aria-describedby");
    assert!(form.contains(&format!("id=\"{told}\"")), "{form}");
    assert!(answer.body.contains("data-failed"), "nothing was done");
}

#[tokio::test]
async fn a_form_of_one_server_is_taken_by_another_one_and_after_a_restart() {
    let folder = folder("servers");
    let open = async || {
        let store = SqliteStore::open(folder.join("runs.db")).await.unwrap();
        House::of(Runtime::open(store), None)
    };
    let first = open().await;
    let stop = CancellationToken::new();
    let worker = tokio::spawn(first.runtime.clone().work(stop.clone()));
    let one = first.ask("acme", r#"{"amount": 12}"#).await;
    let two = first.ask("acme", r#"{"amount": 13}"#).await;
    let page = first.get("acme/grace", "/approvals").await.body;
    let token = attribute(&page, "name=\"token\" value").to_owned();
    let approve = [("token", &*token), ("decision", "approve")];
    // Another server of the store, beside the first.
    let second = open().await;
    let of = |id: &str| format!("/approvals/{id}");
    let answer = second.post("acme/grace", &of(&one.id), &approve).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    // The form is still one of its visitor alone.
    let other = second.post("acme/hal", &of(&two.id), &approve).await;
    assert_eq!(other.status, StatusCode::FORBIDDEN);
    let elsewhere = second.post("beta/grace", &of(&two.id), &approve).await;
    assert_eq!(elsewhere.status, StatusCode::FORBIDDEN);
    // A server of another store does not take it.
    let store = SqliteStore::open(folder.join("other.db")).await.unwrap();
    let foreign = House::of(Runtime::open(store), None);
    let answer = foreign.post("acme/grace", &of(&two.id), &approve).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);
    stop.cancel();
    worker.await.unwrap();
    drop((first, second));
    let third = open().await;
    let answer = third.post("acme/grace", &of(&two.id), &approve).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let _ = fs::remove_dir_all(&folder);
}

#[tokio::test]
async fn two_control_rooms_of_a_store_in_memory_take_the_forms_of_each_other() {
    let store = SqliteStore::in_memory().await.unwrap();
    let open = || House::of(Runtime::open(store.clone()), None);
    let (house, other) = (open(), open());
    tokio::spawn(house.runtime.clone().work(CancellationToken::new()));
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let page = house.get("acme/grace", "/approvals").await.body;
    let token = attribute(&page, "name=\"token\" value");
    let deny = [("token", token), ("decision", "deny")];
    let path = format!("/approvals/{}", request.id);
    let answer = other.post("acme/grace", &path, &deny).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
}

#[tokio::test]
async fn a_slip_in_a_card_is_mended_in_the_card() {
    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12, "to": "ACME"}"#).await;
    let path = format!("/approvals/{}", request.id);
    let begin = "<form class=\"decision\"";
    let edit = async |typed: &[(&str, &str)]| {
        let typed = [typed, &[("decision", "approve"), ("note", "please check")]].concat();
        send(&house, "acme/grace", &path, begin, &typed).await
    };
    for (typed, field, kept) in [
        (
            ("argument.amount", "twelve"),
            "argument.amount",
            "value=\"twelve\"",
        ),
        // What the schema does not allow is found where the call is bound to it.
        (
            ("argument.amount", "1.5"),
            "argument.amount",
            "value=\"1.5\"",
        ),
        (("argument.amount", ""), "argument.amount", "value=\"\""),
        (("arguments", "{'a"), "arguments", "{'a"),
        (
            ("arguments", r#"{"amount": "x"}"#),
            "arguments",
            "{&quot;amount&quot;: &quot;x&quot;}",
        ),
    ] {
        let answer = edit(&[typed]).await;
        let all = [
            kept,
            "value=\"please check\"",
            "<details class=\"editing\" open",
        ];
        is_mended_in(&answer, begin, field, &all);
    }
    let (approvals, operator) = (house.client().approvals(), Principal::operator());
    let pending = approvals.pending(&operator).await.unwrap();
    assert_eq!(pending.len(), 1);
    // The form that comes back is as good as the first one.
    let again = edit(&[("argument.amount", "twelve")]).await.body;
    let mut fields = fields_of(&again, begin);
    for (name, text) in &mut fields {
        if name == "argument.amount" {
            "7".clone_into(text);
        }
    }
    fields.push(("decision".to_owned(), "approve".to_owned()));
    let fields: Vec<_> = fields.iter().map(|(a, b)| (&**a, &**b)).collect();
    let answer = house.post("acme/grace", &path, &fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
}

#[tokio::test]
async fn those_that_are_ticked_stay_ticked_after_a_slip() {
    let house = House::new(Roles::new()).await;
    let first = house.ask("acme", r#"{"amount": 1}"#).await;
    let second = house.ask("acme", r#"{"amount": 2}"#).await;
    let begin = "<form class=\"bulk\"";
    let none = [("note", "not this week"), ("decision", "deny")];
    let none = send(&house, "acme/grace", "/approvals", begin, &none).await;
    assert_eq!(none.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(none.body.contains("no request is chosen"), "{}", none.body);
    assert!(form(&none.body, begin).contains("value=\"not this week\""));
    assert!(!none.body.contains(" checked"), "{}", none.body);
    let wrong = [("id", &*second.id), ("decision", "perhaps")];
    let wrong = send(&house, "acme/grace", "/approvals", begin, &wrong).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let ticked = |id: &str| format!("value=\"{id}\" checked");
    assert!(wrong.body.contains(&ticked(&second.id)), "{}", wrong.body);
    assert!(!wrong.body.contains(&ticked(&first.id)), "{}", wrong.body);
}

#[tokio::test]
async fn a_slip_in_a_form_of_another_page_is_mended_there() {
    let tools = crate::tools::house().await;
    let tool = "/tools/clerk/rate/1.0.0";
    let begin = "<form class=\"editing try\"";
    // A field that has to be filled in is asked for before a run is made of the form.
    for (typed, field) in [
        (("argument.currency", ""), "argument.currency"),
        (("arguments", "{"), "arguments"),
    ] {
        let answer = send(&tools, "acme/tess/tester", tool, begin, &[typed]).await;
        is_mended_in(&answer, begin, field, &[typed.1]);
    }
    let all = agents_store::RunFilter::default();
    let runs = tools.client().runs(&all).await.unwrap();
    assert!(runs.is_empty());

    let house = House::new(Roles::new()).await;
    let request = house.ask("acme", r#"{"amount": 12}"#).await;
    let run = format!("/runs/{}", request.run_id);
    let begin = "<form class=\"say\"";
    let answer = send(&house, "acme/grace", &run, begin, &[("text", " ")]).await;
    is_mended_in(&answer, begin, "text", &[]);
    let chat = "/chat/payer";
    let begin = "<form class=\"say editing\"";
    let answer = send(&house, "acme/grace", chat, begin, &[("text", " ")]).await;
    is_mended_in(&answer, begin, "text", &[]);

    let run = paid(&house, r#"{"amount": 3}"#).await;
    let page = house.get("acme/grace", &format!("/runs/{run}")).await.body;
    let call = attribute(&page, "class=\"call\" href").to_owned();
    let begin = "<form class=\"editing try\"";
    let typed = [("output", "{no"), ("message", "as seen")];
    let answer = send(&house, "operator", &call, begin, &typed).await;
    is_mended_in(&answer, begin, "output", &["{no", "value=\"as seen\""]);

    let post = Post::of(Roles::new(), &["invoices"], &[("acme", 1)]).await;
    let letter = post.path("acme").await;
    let begin = "<form class=\"decision try\"";
    let answer = send(&post.house, "acme/ann", &letter, begin, &[("reason", " ")]).await;
    is_mended_in(&answer, begin, "reason", &[]);
}

#[tokio::test]
async fn a_slip_that_no_field_of_the_page_shows_is_told_all_the_same() {
    let house = House::new(Roles::new()).await;
    let run = paid(&house, r#"{"amount": 3}"#).await;
    let request = house.ask("acme", r#"{"amount": 1}"#).await;
    let page = house.get("acme/grace", "/approvals").await.body;
    let token = attribute(&page, "name=\"token\" value");
    for path in [format!("/runs/{run}"), format!("/approvals/{}", request.id)] {
        let fields = [("token", token), ("action", "fly"), ("decision", "fly")];
        let answer = house.post("acme/grace", &path, &fields).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{path}");
        assert!(answer.body.contains("is none of"), "{}", answer.body);
    }
}
