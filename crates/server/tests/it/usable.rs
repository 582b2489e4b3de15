//! Controls that a visitor may not use: they are not there, or are disabled, and the page says why.

use crate::{
    conversations::say,
    house::{House, attribute},
    letters::with_failures,
    models::{activate, scoring},
    runs::{over, paid, with_a_doubt_for},
};
use agents_control::{ControlPlane, ModelProfile, PurposeKey::Scoring};
use agents_core::tool::Risk;
use agents_runtime::{Action, Roles, Runtime, SqliteStore};
use serde_json::json;
use std::time::Duration;

/// Rules that demand a role for each action, named after it, and one for each risk.
fn strict() -> Roles {
    let roles = Action::ALL.iter().fold(Roles::new(), |roles, &action| {
        roles.for_action(action, action.as_str())
    });
    roles.for_risk(Risk::Medium, "treasurer")
}

/// Returns the names of the buttons that change something and that a visitor can press.
fn usable(page: &str) -> Vec<&str> {
    let forms = page.split("<form").skip(1);
    let changing = forms.filter(|form| form.contains("method=\"post\""));
    let buttons = changing.flat_map(|form| {
        form.split("</form>")
            .next()
            .unwrap()
            .split("<button")
            .skip(1)
    });
    let is_off = |tag: &str| tag.contains("disabled") || tag.contains("hidden");
    let enabled = buttons.filter(|button| !is_off(button.split('>').next().unwrap()));
    enabled
        .map(|button| button.split_once('>').unwrap().1.split('<').next().unwrap())
        .collect()
}

/// Checks that a page has these buttons for whoever has the roles, and for nobody else, who is told why.
async fn check(house: &House, path: &str, with: &str, buttons: &[&str], why: &[&str]) {
    let page = house.get(&format!("acme/grace/{with}"), path).await.body;
    assert_eq!(usable(&page), buttons, "{path}: {page}");
    assert!(!page.contains("You may not do this"), "{path}: {page}");
    let page = house.get("acme/carl/read-arguments", path).await.body;
    assert_eq!(usable(&page), [""; 0], "{path}: {page}");
    for why in why {
        assert!(page.contains(why), "{path}: {why}: {page}");
    }
}

#[tokio::test]
async fn a_request_is_decided_by_those_alone_who_may_and_the_others_are_told_why() {
    let house = House::new(strict()).await;
    let request = house.ask("acme", r#"{"amount": 1}"#).await;
    let one = format!("/approvals/{}", request.id);
    let with = "decide/treasurer";
    let buttons = ["Approve pay", "Ask for a revision", "Deny"];
    let why = ["`decide` needs the role `decide`, which `carl` has not"];
    check(&house, &one, with, &buttons, &why).await;
    check(&house, "/approvals", with, &buttons, &why).await;
    // One that may be ticked is no choice; two are.
    house.ask("acme", r#"{"amount": 2}"#).await;
    let page = house.get("acme/grace/decide/treasurer", "/approvals").await;
    assert_eq!(page.body.matches("type=\"checkbox\"").count(), 2);
    assert!(page.body.contains("id=\"bulk\""));
    let page = house.get("acme/carl/read-arguments", "/approvals").await;
    assert!(!page.body.contains("type=\"checkbox\"") && !page.body.contains("id=\"bulk\""));
    // The role for the action is not enough for calls of this risk.
    let page = house
        .get("acme/dora/decide/read-arguments", &one)
        .await
        .body;
    assert_eq!(usable(&page), [""; 0]);
    assert!(
        page.contains("calls of Medium risk need the role `treasurer`"),
        "{page}"
    );
    assert!(page.contains("amount"), "she sees what it is about: {page}");
}

#[tokio::test]
async fn whoever_wrote_in_the_conversation_gets_no_form_for_its_requests() {
    let house = House::new(Roles::new().share_conversations()).await;
    let asked = async |by: &str| {
        let run = say(&house, by, "c", "payer", r#"{"amount": 1}"#).await;
        loop {
            let path = format!("/api/approvals?run={run}");
            let listed = house.get("acme/grace", &path).await.json();
            if let Some(id) = listed["approvals"][0]["id"].as_str() {
                return id.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let of_bob = asked("acme/bob").await;
    house.decide("acme/grace", &of_bob, "deny", &[]).await;
    let of_ada = asked("acme/ada").await;
    let one = format!("/approvals/{of_ada}");
    for (who, why) in [
        ("acme/ada", "`ada` started the run"),
        ("acme/bob", "`bob` wrote to the agent of the run"),
    ] {
        let page = house.get(who, &one).await.body;
        assert_eq!(usable(&page), [""; 0], "{who}: {page}");
        assert!(page.contains(why), "{who}: {page}");
    }
    let page = house.get("acme/grace", &one).await.body;
    assert_eq!(usable(&page).len(), 3, "{page}");
}

#[tokio::test]
async fn a_run_is_steered_and_undone_by_those_alone_who_may() {
    let house = House::new(strict()).await;
    let request = house.ask("acme", r#"{"amount": 1}"#).await;
    let run = format!("/runs/{}", request.run_id);
    let (pauses, cancels) = (
        "`pause` needs the role `pause`, which `carl` has not",
        "`cancel` needs the role `cancel`",
    );
    check(
        &house,
        &run,
        "pause/cancel",
        &["Pause", "Cancel the run"],
        &[pauses, cancels],
    )
    .await;
    let page = house.get("acme/grace/cancel", &run).await.body;
    assert_eq!(usable(&page), ["Cancel the run"]);
    let pause = json!({"action": "pause"});
    house
        .post_json("operator", &format!("/api{run}"), &pause)
        .await;
    let releases = "`release` needs the role `release`";
    let buttons = ["Let it go on", "Cancel the run"];
    check(
        &house,
        &run,
        "release/cancel",
        &buttons,
        &[releases, cancels],
    )
    .await;

    let request = house.ask("acme", r#"{"amount": 1}"#).await;
    house.decide("operator", &request.id, "approve", &[]).await;
    let path = format!("/runs/{}", request.run_id);
    over(&house, &request.run_id).await;
    let whole = house.get("operator", &format!("/api{path}")).await.json();
    let execution = whole["executions"][0]["execution_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let (of_grace, of_carl) = (
        house.get("acme/grace/undo", &path).await.body,
        house.get("acme/carl", &path).await.body,
    );
    let undo = format!("{path}/executions/{execution}");
    assert!(
        of_grace.contains(&undo) && !of_carl.contains(&undo),
        "{of_carl}"
    );
    assert!(of_carl.contains("not by you"), "{of_carl}");
    let why = ["`undo` needs the role `undo`, which `carl` has not"];
    check(&house, &undo, "undo", &["Undo it"], &why).await;
}

#[tokio::test]
async fn a_doubt_is_settled_by_those_alone_who_may() {
    let roles = strict().for_risk(Risk::Low, "clerk");
    let (house, run) = with_a_doubt_for(roles).await;
    let path = format!("/runs/{run}");
    let buttons = ["It took effect", "It had no effect"];
    let why = ["`settle` needs the role `settle`, which `carl` has not"];
    check(&house, &path, "settle/clerk/treasurer", &buttons, &why).await;
    // Whoever has started the run is told so.
    let page = house
        .get("acme/ada/settle/clerk/treasurer", &path)
        .await
        .body;
    assert_eq!(usable(&page), [""; 0], "{page}");
    assert!(
        page.contains("`ada` started the run, and may not settle its doubts"),
        "{page}"
    );
}

#[tokio::test]
async fn a_tool_is_tried_and_a_run_varied_by_those_alone_who_may() {
    let house = crate::tools::house().await;
    let page = house.get("acme/tess/tester", "/tools").await.body;
    assert!(page.contains("#try\""), "{page}");
    let page = house.get("acme/carl", "/tools").await.body;
    assert!(
        !page.contains("#try\"") && page.contains("#pin\""),
        "{page}"
    );
    let why = ["`call` needs the role `tester`, which `carl` has not"];
    check(
        &house,
        "/tools/clerk/rate/1.0.0",
        "tester",
        &["Call rate"],
        &why,
    )
    .await;
    let (run, call) = crate::tools::worked(&house).await;
    let path = format!("/runs/{run}/calls/{call}");
    check(&house, &path, "tester", &["Try it"], &why).await;
}

#[tokio::test]
async fn a_letter_is_replayed_and_a_cluster_triaged_by_those_alone_who_may() {
    let (post, _) = with_failures(strict().for_risk(Risk::Low, "clerk")).await;
    let why = ["`replay` needs the role `replay`, which `carl` has not"];
    let path = post.path("acme").await;
    check(&post.house, &path, "replay", &["Replay"], &why).await;
    let found = post.house.get("acme/carl", "/failures").await.body;
    let path = format!("/failures/{}", attribute(&found, "data-cluster"));
    let why = ["`triage` needs the role `triage`, which `carl` has not"];
    let buttons = ["Dismiss", "Escalate", "Wait"];
    check(&post.house, &path, "triage", &buttons, &why).await;
}

#[tokio::test]
async fn a_profile_is_rolled_back_by_those_alone_who_may() {
    let store = SqliteStore::in_memory().await.unwrap();
    let control = ControlPlane::open(&store).roles(strict());
    let house = House::of(Runtime::open(store), Some(&control));
    activate(&control, scoring()).await;
    for model in ["good", "other"] {
        activate(
            &control,
            ModelProfile::org("acme", Scoring).model("p", model),
        )
        .await;
    }
    let why = ["`profiles` needs the role `profiles`, which `carl` has not"];
    let path = "/models/scoring";
    check(&house, path, "profiles", &["Activate version 2"], &why).await;
    let changes = control.changes(0).await.unwrap();
    assert_eq!(changes.len(), 3, "whoever only looks leaves no refusal");
}

#[tokio::test]
async fn nobody_but_the_operator_is_offered_what_is_the_operators() {
    let house = House::new(Roles::new()).await;
    paid(&house, r#"{"amount": 1}"#).await;
    for (who, is_operator) in [("operator", true), ("acme/grace", false)] {
        let audit = house.get(who, "/audit").await.body;
        assert_eq!(
            audit.contains("Verify the whole trail"),
            is_operator,
            "{who}"
        );
        // It is not done for whoever names it in the address either.
        let audit = house.get(who, "/audit?verify=yes").await.body;
        assert_eq!(audit.contains("class=\"done\""), is_operator, "{who}");
    }
}
