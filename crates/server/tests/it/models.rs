//! Models and costs of a control plane: what each visitor sees, rollback, circuits, budgets, sums, CSV.

use crate::house::{House, attribute};
use agents::{
    AgentBuilder, PurposeKey,
    PurposeKey::{Reasoning, Scoring},
    model::{ModelError, ModelErrorKind, Reply, Usage},
    testing::{Script, ScriptedModel},
};
use agents_control::{
    ControlPlane, ModelProfile, OverrideClass, Prices, ProfileAction, per_minute, usd,
};
use agents_runtime::{Principal, Progress, Roles, RunRef, Runtime, SqliteStore};
use axum::http::{StatusCode, header};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// House with a control plane, whose model `p/good` costs a thousandth of a dollar for each token that it writes, and whose
/// model `p/bad` is down.
pub(crate) async fn house() -> (House, ControlPlane) {
    let store = SqliteStore::in_memory().await.unwrap();
    let reply = Reply {
        content: "Oslo".to_owned(),
        usage: Usage {
            input_tokens: 7,
            output_tokens: 100,
            requests: 1,
            ..Usage::default()
        },
        ..Reply::default()
    };
    let (good, _) = ScriptedModel::always(Script::Reply(reply));
    let refused = ModelError::new(ModelErrorKind::Unreachable, "no route");
    let (bad, _) = ScriptedModel::always(Script::Fail(refused));
    let control = ControlPlane::open(&store)
        .provider(
            "p",
            move |target: &agents_control::Target<'_>| match target.model {
                "bad" => bad.clone(),
                _ => good.clone(),
            },
        )
        .prices(Prices::default().model("p/*", 0.0, 1_000.0));
    let runtime = Runtime::open(store).control(&control);
    let house = House::of(runtime, Some(&control));
    (house, control)
}

pub(crate) async fn activate(control: &ControlPlane, profile: ModelProfile) -> u64 {
    let operator = Principal::operator();
    control
        .activate(profile)
        .by(&operator)
        .await
        .unwrap()
        .version
}

pub(crate) fn scoring() -> ModelProfile {
    ModelProfile::global(Scoring)
        .model("p", "good")
        .approve("p", "other")
        .max_output_tokens(200)
        .daily_cap(usd(1))
        .rate(per_minute(60))
}

/// Runs an agent of this name for a tenant, and returns the id of the run.
pub(crate) async fn ask(
    house: &House,
    agent: &str,
    purpose: PurposeKey,
    tenants: &[&str],
) -> Vec<String> {
    let built = AgentBuilder::<String, String>::new(agent.to_owned())
        .purpose(purpose)
        .build();
    let agent = house.runtime.agent(built);
    let stop = CancellationToken::new();
    let worker = tokio::spawn(house.runtime.clone().work(stop.clone()));
    let mut runs = Vec::new();
    for tenant in tenants {
        let run = agent.run("Norway").scope(*tenant).start().await.unwrap();
        let found: RunRef<Value> = house.client().run(run.id());
        let progress = found.wait(Duration::from_secs(20)).await.unwrap();
        assert!(matches!(progress, Progress::Done(_)), "{progress:?}");
        runs.push(run.id().to_owned());
    }
    stop.cancel();
    worker.await.unwrap();
    runs
}

#[tokio::test]
async fn without_a_control_plane_the_pages_say_so_and_lead_to_the_chapter() {
    let house = House::new(Roles::new()).await;
    for page in ["/models", "/costs", "/models/scoring"] {
        let shown = house.get("acme/grace", page).await;
        assert_eq!(shown.status, StatusCode::OK);
        assert!(
            shown.body.contains("has no control plane"),
            "{}",
            shown.body
        );
        assert!(shown.body.contains(".control(&amp;plane)"), "{page}");
        let data = house.get("acme/grace", &format!("/api{page}")).await;
        assert_eq!(data.status, StatusCode::NOT_FOUND, "{page}");
        assert_eq!(data.json()["error"]["kind"], "no_control", "{page}");
    }
}

#[tokio::test]
async fn the_operator_sees_all_tiers_and_a_tenant_what_applies_to_it() {
    let (house, control) = house().await;
    activate(&control, scoring().credential("secret-of-the-platform")).await;
    activate(
        &control,
        ModelProfile::org("acme", Scoring)
            .model("p", "other")
            .daily_cap(usd(0.5)),
    )
    .await;
    activate(
        &control,
        ModelProfile::org("beta", Scoring).model("p", "good"),
    )
    .await;
    let all = house.get("operator", "/models").await.body;
    for part in [
        "all organisations",
        "organisation acme",
        "organisation beta",
        "p/good",
        "$1 a day",
        "60 calls a minute",
        "secret-of-the-platform",
        "No profile is active",
        "circuit-closed",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    let acme = house.get("acme/grace", "/models").await.body;
    assert!(
        acme.contains("organisation acme") && acme.contains("$0.5 a day"),
        "{acme}"
    );
    // The rate is that of the tier above.
    assert!(acme.contains("60 calls a minute"), "{acme}");
    for part in ["beta", "secret-of-the-platform", "all organisations"] {
        assert!(!acme.contains(part), "{part}: {acme}");
    }
    let third = house.get("third/tom", "/models").await.body;
    assert!(
        third.contains("all organisations") && third.contains("p/good"),
        "{third}"
    );
    assert!(
        !third.contains("acme") && !third.contains(" by operator"),
        "{third}"
    );
    let data = house.get("acme/grace", "/api/models").await.json();
    let scoring = &data["purposes"][0];
    assert_eq!(scoring["purpose"], "scoring");
    assert_eq!(scoring["profiles"].as_array().unwrap().len(), 1);
    assert_eq!(scoring["profiles"][0]["daily_cap_nanos"], 500_000_000);
}

#[tokio::test]
async fn an_override_that_does_not_count_any_more_says_so() {
    let (house, control) = house().await;
    activate(&control, scoring()).await;
    activate(
        &control,
        ModelProfile::org("acme", Scoring).model("p", "other"),
    )
    .await;
    activate(&control, ModelProfile::global(Scoring).model("p", "good")).await;
    let page = house.get("acme/grace", "/models").await.body;
    assert!(page.contains("It does not count"), "{page}");
    assert!(page.contains("all organisations"), "{page}");
}

#[tokio::test]
async fn a_version_is_activated_again_in_a_form_and_the_second_operator_is_told() {
    let (house, control) = house().await;
    let first = activate(&control, scoring()).await;
    let second = activate(&control, scoring().daily_cap(usd(2))).await;
    let page = house.get("operator", "/models/scoring").await.body;
    assert!(
        page.contains(&format!("data-version=\"{second}\" data-active")),
        "{page}"
    );
    let form = page.split_once("<form method=\"post\"").unwrap().1;
    assert_eq!(attribute(form, "name=\"version\" value"), first.to_string());
    assert_eq!(
        attribute(form, "name=\"replaces\" value"),
        second.to_string()
    );
    let token = attribute(form, "name=\"token\" value").to_owned();
    let (first, second) = (first.to_string(), second.to_string());
    let roll_back = async |who: &str, token: &str, version: &str| {
        let fields = [
            ("version", version),
            ("replaces", &*second),
            ("token", token),
        ];
        house.post(who, "/models/scoring", &fields).await
    };
    assert_eq!(
        roll_back("operator", "x", &first).await.status,
        StatusCode::FORBIDDEN
    );
    let done = roll_back("operator", &token, &first).await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.body);
    let page = house.get("operator", "/models/scoring").await.body;
    assert!(
        page.contains(&format!("data-version=\"{first}\" data-active")),
        "{page}"
    );
    assert!(page.contains("data-change=\"rolled_back\""), "{page}");
    // Another operator looks at the page of before.
    let late = roll_back("operator", &token, &first).await;
    assert_eq!(late.status, StatusCode::CONFLICT, "{}", late.body);
    assert_eq!(
        roll_back("operator", &token, "99").await.status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    let none = house.get("operator", "/models/none").await;
    assert_eq!(none.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_tenant_rolls_its_own_profiles_back_and_no_others() {
    let (house, control) = house().await;
    let global = activate(&control, scoring()).await;
    let org = |model: &str| ModelProfile::org("acme", Scoring).model("p", model);
    let first = activate(&control, org("good")).await;
    activate(&control, org("other")).await;
    let others = activate(
        &control,
        ModelProfile::org("beta", Scoring).model("p", "good"),
    )
    .await;
    let page = house.get("acme/grace", "/models/scoring").await.body;
    assert!(
        page.contains("Activate version") && !page.contains("beta"),
        "{page}"
    );
    assert!(!page.contains("all organisations"), "{page}");
    let change = |version: u64| json!({"action": "roll_back", "version": version});
    for version in [global, others] {
        let answer = house
            .post_json("acme/grace", "/api/models/scoring", &change(version))
            .await;
        assert_eq!(
            answer.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{}",
            answer.body
        );
    }
    let answer = house
        .post_json("acme/grace", "/api/models/scoring", &change(first))
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let versions = answer.json();
    let versions = versions["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 2);
    assert!(versions.iter().all(|one| one["active"] == first));
    let odd = json!({"action": "promote", "version": first});
    let odd = house
        .post_json("acme/grace", "/api/models/scoring", &odd)
        .await;
    assert_eq!(odd.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn l4_l21_a_change_of_a_locked_purpose_is_forbidden_and_a_row_of_the_changes() {
    let (house, control) = house().await;
    activate(&control, scoring()).await;
    let org = |model: &str| ModelProfile::org("acme", Scoring).model("p", model);
    let first = activate(&control, org("good")).await;
    activate(&control, org("other")).await;
    activate(&control, scoring().override_class(OverrideClass::Locked)).await;
    let change = json!({"action": "roll_back", "version": first});
    let answer = house
        .post_json("acme/grace", "/api/models/scoring", &change)
        .await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);
    assert!(answer.body.contains("locked"), "{}", answer.body);
    let changes = control.changes(0).await.unwrap();
    let last = changes.last().unwrap();
    assert_eq!((last.action, &*last.by), (ProfileAction::Refused, "grace"));
    let page = house.get("acme/grace", "/models/scoring").await.body;
    assert!(page.contains("data-change=\"refused\""), "{page}");
}

#[tokio::test]
async fn circuits_and_budgets_are_those_of_today() {
    let (house, control) = house().await;
    activate(&control, scoring()).await;
    let down = ModelProfile::global(Reasoning)
        .model("p", "bad")
        .fallback("p", "good");
    activate(&control, down).await;
    ask(&house, "scorer", Scoring, &["acme", "acme", "beta"]).await;
    ask(&house, "thinker", Reasoning, &["acme", "acme"]).await;
    let page = house.get("operator", "/models").await.body;
    assert!(
        page.contains("circuit-open") && page.contains("p/bad"),
        "{page}"
    );
    assert!(page.contains("20 % of $1"), "{page}");
    let data = house.get("operator", "/api/models").await.json();
    let of = |purpose: &str| {
        let purposes = data["purposes"].as_array().unwrap().iter();
        let mut found = purposes.filter(|one| one["purpose"] == purpose);
        found.next().unwrap().clone()
    };
    let budgets = of("scoring")["budgets"].clone();
    assert_eq!(budgets[0]["org_id"], "acme");
    assert_eq!(budgets[0]["spent_nanos"], 200_000_000);
    assert_eq!(budgets[0]["cap_nanos"], 1_000_000_000);
    assert_eq!(budgets[1]["spent_nanos"], 100_000_000);
    let models = of("reasoning")["profiles"][0]["models"].clone();
    assert_eq!(
        (&models[0]["circuit"], &models[1]["circuit"]),
        (&json!("open"), &json!("closed"))
    );
    let own = house.get("beta/bob", "/models").await.body;
    assert!(
        own.contains("organisation beta") && !own.contains("acme"),
        "{own}"
    );
}

#[tokio::test]
async fn costs_are_summed_by_everything_and_by_tenant_alone_for_a_tenant() {
    let (house, control) = house().await;
    activate(&control, scoring()).await;
    activate(&control, ModelProfile::global(Reasoning).model("p", "good")).await;
    let scored = ask(&house, "scorer", Scoring, &["acme", "acme", "=evil"]).await;
    ask(&house, "<i>thinker</i>", Reasoning, &["acme"]).await;
    let sums = async |who: &str, query: &str| {
        let answer = house.get(who, &format!("/api/costs?{query}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        let costs = answer.json();
        let rows = costs["rows"].as_array().unwrap().iter();
        let rows = rows.map(|row| {
            let of = row["of"].as_str().unwrap().to_owned();
            (
                of,
                row["calls"].as_u64().unwrap(),
                row["cost_nanos"].as_u64().unwrap(),
            )
        });
        (
            rows.collect::<Vec<_>>(),
            costs["total"]["cost_nanos"].as_u64().unwrap(),
        )
    };
    let row = |of: &str, calls, cents: u64| (of.to_owned(), calls, cents * 10_000_000);
    let all = 400_000_000;
    let agents = vec![row("scorer", 3, 30), row("<i>thinker</i>", 1, 10)];
    assert_eq!(sums("operator", "by=agent").await, (agents, all));
    let tenants = vec![row("acme", 3, 30), row("=evil", 1, 10)];
    assert_eq!(sums("operator", "by=tenant").await, (tenants, all));
    let purposes = vec![row("scoring", 3, 30), row("reasoning", 1, 10)];
    assert_eq!(sums("operator", "by=purpose").await, (purposes, all));
    let models = vec![row("good", 4, 40)];
    assert_eq!(sums("operator", "by=model").await, (models, all));
    let (runs, _) = sums("operator", "by=run&purpose=scoring").await;
    let mut found: Vec<_> = runs.iter().map(|(run, ..)| run.clone()).collect();
    found.sort();
    let mut expect = scored.clone();
    expect.sort();
    assert_eq!(found, expect);
    let (days, total) = sums("acme/grace", "by=day&tenant=%3Devil").await;
    assert_eq!(
        (days.len(), days[0].1, total),
        (1, 3, 300_000_000),
        "a tenant has its own alone"
    );
    let (none, total) = sums("operator", "since=2999-01-01").await;
    assert_eq!((none.len(), total), (0, 0));

    let page = house.get("operator", "/costs?by=agent").await.body;
    assert!(
        page.contains("data-total=\"400000000\"") && page.contains("$0.4"),
        "{page}"
    );
    assert!(
        page.contains("&lt;i&gt;thinker") && !page.contains("<i>thinker"),
        "{page}"
    );
    let own = house.get("acme/grace", "/costs?by=tenant").await.body;
    assert!(
        !own.contains("evil") && own.contains("data-total=\"300000000\""),
        "{own}"
    );
    let run = house
        .get("operator", &format!("/runs/{}", scored[0]))
        .await
        .body;
    assert!(
        run.contains("data-cost=\"100000000\"") && run.contains("107"),
        "{run}"
    );

    let csv = house.get("operator", "/api/costs.csv?by=tenant").await;
    assert_eq!(
        csv.head.headers()[header::CONTENT_TYPE],
        "text/csv; charset=utf-8"
    );
    let expect = "tenant,calls,input_tokens,output_tokens,cost,unpriced\r\nacme,3,21,300,0.3,0\r\n\"'=evil\",1,7,100,0.1,0\r\n";
    assert_eq!(csv.body, expect);
    let own = house
        .get("acme/grace", "/api/costs.csv?by=tenant")
        .await
        .body;
    assert!(!own.contains("evil"), "{own}");
    for query in ["by=colour", "since=yesterday"] {
        for path in ["/api/costs", "/api/costs.csv", "/costs"] {
            let odd = house.get("operator", &format!("{path}?{query}")).await;
            assert_eq!(
                odd.status,
                StatusCode::UNPROCESSABLE_ENTITY,
                "{path}?{query}"
            );
        }
    }
}
