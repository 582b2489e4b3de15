//! Profiles: who may change them, and who goes by them.

use super::{activate, ask, operator, plane, prices, reply, scoring};
use agents_control::{
    Action, ControlErrorKind, ControlPlane, CredentialSource, ModelProfile, OverrideClass,
    Principal, ProfileAction,
    PurposeKey::{self, Detection, Scoring},
    Roles, SqliteStore, per_minute, usd,
};
use agents_core::{
    model::ModelErrorKind,
    testing::{Script, ScriptedModel},
    tool::Scope,
};
use std::time::{Duration, Instant};

fn admin() -> Principal {
    Principal::new("ada", "acme")
}

fn of_acme(model: &str) -> ModelProfile {
    ModelProfile::org("acme", Scoring).model("p", model)
}

/// Creates a plane on a file, whose models say their own names.
fn naming(store: &SqliteStore) -> ControlPlane {
    ControlPlane::open(store)
        .prices(prices())
        .provider("p", |target| {
            let name = target.model.to_owned();
            ScriptedModel::always(Script::with(move |_| {
                let mut named = reply(1, 1);
                named.content = name.clone();
                named
            }))
            .0
        })
}

#[tokio::test]
async fn c19_the_purposes_are_the_eight_and_those_that_are_registered() {
    let store = SqliteStore::in_memory().await.unwrap();
    let triage = || ModelProfile::global("triage".into()).model("p", "m");
    let plain = naming(&store);
    let refused = plain.activate(triage()).by(&operator()).await.unwrap_err();
    assert!(refused.to_string().contains("not registered"), "{refused}");
    let control = naming(&store).purpose("triage");
    let purposes = control.purposes();
    let names: Vec<_> = purposes.iter().map(PurposeKey::as_str).collect();
    assert_eq!(
        names,
        [
            "scoring",
            "detection",
            "reasoning",
            "agent_turn",
            "agent_tool",
            "world_agent",
            "customer_replay",
            "embedding",
            "triage"
        ]
    );
    for purpose in purposes {
        let profile = ModelProfile::global(purpose.clone()).model("p", purpose.as_str());
        activate(&control, profile).await;
        let reply = ask(&control.model(purpose.clone(), "acme")).await.unwrap();
        assert_eq!(reply.content, purpose.as_str());
    }
}

#[tokio::test]
async fn l6_another_process_goes_by_a_new_profile_within_a_second() {
    let path = std::env::temp_dir().join(format!("agents-control-l6-{}.db", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let (one, other) = (
        naming(&SqliteStore::open(&path).await.unwrap()),
        naming(&SqliteStore::open(&path).await.unwrap()),
    );
    activate(&one, scoring()).await;
    let model = other.model(Scoring, "acme");
    assert_eq!(ask(&model).await.unwrap().content, "m");
    for name in ["m2", "m3"] {
        activate(&one, scoring().model("p", name)).await;
        let begun = Instant::now();
        // Nobody tells the other process.
        while ask(&model).await.unwrap().content != name {
            assert!(begun.elapsed() < Duration::from_secs(1));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
}

#[tokio::test]
async fn l20_a_rollback_activates_the_earlier_version_again() {
    let (control, _) = plane(reply(1, 1)).await;
    let first = activate(&control, scoring()).await;
    let second = activate(&control, scoring().model("p", "worse")).await;
    let back = control.rollback(first).by(&operator()).await.unwrap();
    assert_eq!((back.version, &*back.profile.model), (first, "m"));
    let versions = control.versions(&Scoring).await.unwrap();
    assert_eq!(versions.len(), 2);
    assert!(versions[1].deactivated_at.is_some() && versions[0].deactivated_at.is_none());
    assert_eq!(versions[1].version, second);
    let told: Vec<_> = control.changes(0).await.unwrap();
    let told: Vec<_> = told
        .iter()
        .map(|change| (change.action, change.version))
        .collect();
    assert_eq!(
        told,
        [
            (ProfileAction::Activated, first),
            (ProfileAction::Activated, second),
            (ProfileAction::RolledBack, first),
        ]
    );
    let unknown = control.rollback(999).by(&operator()).await.unwrap_err();
    assert_eq!(unknown.kind(), ControlErrorKind::NotFound);
}

#[tokio::test]
async fn l4_an_override_of_a_locked_purpose_is_refused() {
    let (control, _) = plane(reply(1, 1)).await;
    activate(&control, ModelProfile::global(Detection).model("p", "m")).await;
    let own = ModelProfile::org("acme", Detection).model("p", "m");
    let known = control.refusal(&own, &admin()).await.unwrap();
    assert_eq!(
        control.changes(0).await.unwrap().len(),
        1,
        "whoever asks leaves no trace"
    );
    let refused = control.activate(own).by(&admin()).await.unwrap_err();
    assert_eq!(refused.kind(), ControlErrorKind::Forbidden);
    assert!(refused.to_string().contains("locked"), "{refused}");
    assert_eq!(known, Some(refused.to_string()), "it is known before");
    // L21: the refusal is in the log.
    let changes = control.changes(0).await.unwrap();
    let last = changes.last().unwrap();
    assert_eq!((last.action, &*last.by), (ProfileAction::Refused, "ada"));
}

#[tokio::test]
async fn l4_an_override_takes_models_that_the_operator_approves() {
    let (control, _) = plane(reply(1, 1)).await;
    activate(&control, scoring().approve("p", "approved")).await;
    let refused = control.activate(of_acme("other")).by(&admin()).await;
    assert_eq!(refused.unwrap_err().kind(), ControlErrorKind::Forbidden);
    control
        .activate(of_acme("approved"))
        .by(&admin())
        .await
        .unwrap();
    let open = scoring().override_class(OverrideClass::Open);
    activate(&control, open).await;
    control
        .activate(of_acme("other"))
        .by(&admin())
        .await
        .unwrap();
}

#[tokio::test]
async fn l21_the_global_profile_and_those_of_others_are_not_a_tenants() {
    let (control, _) = plane(reply(1, 1)).await;
    let version = activate(&control, scoring()).await;
    let refused = control.activate(scoring()).by(&admin()).await.unwrap_err();
    assert_eq!(refused.kind(), ControlErrorKind::Forbidden);
    let stranger = Principal::new("eve", "other");
    let refused = control.activate(of_acme("m")).by(&stranger).await;
    assert_eq!(refused.unwrap_err().kind(), ControlErrorKind::Forbidden);
    let refused = control.deactivate(version).by(&admin()).await.unwrap_err();
    assert_eq!(refused.kind(), ControlErrorKind::Forbidden);
    control.activate(of_acme("m")).by(&admin()).await.unwrap();
    assert_eq!(control.versions(&Scoring).await.unwrap().len(), 2);
}

#[tokio::test]
async fn l21_with_a_role_for_profiles_only_whoever_has_it_changes_those_of_the_organisation() {
    let roles = Roles::new().for_action(Action::Profiles, "finance");
    let store = SqliteStore::in_memory().await.unwrap();
    let control = naming(&store).roles(roles);
    activate(&control, scoring().daily_cap(usd(10))).await;
    let finance = admin().role("finance");
    let lower = || of_acme("m").daily_cap(usd(5));
    let first = control.activate(lower()).by(&finance).await.unwrap();
    let version = first.version;
    assert_eq!(control.refusal(&lower(), &finance).await.unwrap(), None);
    let known = control.refusal(&lower(), &admin()).await.unwrap();
    assert!(known.unwrap().contains("the role `finance`"));
    for change in [
        control.activate(lower()),
        control.rollback(version),
        control.deactivate(version),
    ] {
        let refused = change.by(&admin()).await.unwrap_err();
        assert_eq!(refused.kind(), ControlErrorKind::Forbidden, "{refused}");
        assert!(
            refused.to_string().contains("the role `finance`"),
            "{refused}"
        );
        let changes = control.changes(0).await.unwrap();
        let last = changes.last().unwrap();
        assert_eq!((last.action, &*last.by), (ProfileAction::Refused, "ada"));
        assert!(last.detail.contains("the role `finance`"), "{last:?}");
    }
    // The role is one within the organisation, and raises nothing.
    let stranger = Principal::new("eve", "other").role("finance");
    let refused = control.rollback(version).by(&stranger).await.unwrap_err();
    assert_eq!(refused.kind(), ControlErrorKind::Forbidden, "{refused}");
    let raised = of_acme("m").daily_cap(usd(11));
    control.activate(raised).by(&finance).await.unwrap_err();
    control.rollback(version).by(&finance).await.unwrap();
    control.deactivate(version).by(&finance).await.unwrap();
    control.rollback(version).by(&operator()).await.unwrap();
}

#[tokio::test]
async fn a_tenant_lowers_limits_and_does_not_raise_them() {
    let (control, _) = plane(reply(1, 1)).await;
    let global = scoring().daily_cap(usd(10)).rate(per_minute(60));
    activate(&control, global).await;
    let lower = of_acme("m").daily_cap(usd(5)).rate(per_minute(6));
    control.activate(lower).by(&admin()).await.unwrap();
    for raised in [
        of_acme("m").daily_cap(usd(11)),
        of_acme("m").rate(per_minute(61)),
    ] {
        let refused = control
            .activate(raised.clone())
            .by(&admin())
            .await
            .unwrap_err();
        assert_eq!(refused.kind(), ControlErrorKind::Forbidden, "{refused}");
        // With a credential of its own, the tenant pays itself.
        let own = raised.clone().credential("own");
        control.activate(own).by(&admin()).await.unwrap();
        control.activate(raised).by(&operator()).await.unwrap();
    }
}

#[tokio::test]
async fn a_tenant_raises_no_limits_of_models_that_the_platform_pays_for() {
    let (control, _) = plane(reply(1, 1)).await;
    let global = scoring()
        .override_class(OverrideClass::Open)
        .daily_cap(usd(10))
        .rate(per_minute(60));
    activate(&control, global).await;
    // A credential of its own that is not there.
    let mut unnamed = of_acme("m");
    unnamed.credential_source = CredentialSource::OrgByo;
    // A fallback is asked without the credential if it is another provider's.
    let across = of_acme("m").credential("own").across_providers();
    let across = across.fallback("p", "n").fallback("q", "m");
    for payer in [unnamed, across] {
        for raised in [
            payer.clone().daily_cap(usd(11)),
            payer.clone().rate(per_minute(61)),
        ] {
            let refused = control.activate(raised).by(&admin()).await.unwrap_err();
            assert_eq!(refused.kind(), ControlErrorKind::Forbidden, "{refused}");
            assert!(refused.to_string().contains("not raised"), "{refused}");
        }
        let lower = payer.daily_cap(usd(9)).rate(per_minute(59));
        control.activate(lower).by(&admin()).await.unwrap();
    }
    let own = of_acme("m").credential("own").fallback("p", "n");
    let own = own.daily_cap(usd(11)).rate(per_minute(61));
    control.activate(own).by(&admin()).await.unwrap();
}

#[tokio::test]
async fn a_workspace_does_not_take_over_a_cap_for_the_key_of_its_organisation() {
    let (control, handle) = plane(reply(1, 100)).await;
    let global = scoring()
        .override_class(OverrideClass::Open)
        .max_output_tokens(100)
        .daily_cap(usd(0.1));
    activate(&control, global).await;
    let own = ModelProfile::org("acme", Scoring).model("q", "m");
    let own = own.credential("own").daily_cap(usd(1_000));
    control.activate(own).by(&admin()).await.unwrap();
    let workspace = ModelProfile::domain("acme", "x", Scoring).model("p", "m");
    control.activate(workspace).by(&admin()).await.unwrap();
    let model = control.model(Scoring, Scope::from("acme").domain("x"));
    ask(&model).await.unwrap();
    let refused = ask(&model).await.unwrap_err();
    assert_eq!(refused.kind(), ModelErrorKind::OverBudget, "{refused}");
    assert_eq!(handle.count(), 1);
}

#[tokio::test]
async fn of_two_operators_the_second_is_told() {
    let (control, _) = plane(reply(1, 1)).await;
    let first = activate(&control, scoring()).await;
    let change = || {
        control
            .activate(scoring().model("p", "new"))
            .replacing(first)
    };
    change().by(&operator()).await.unwrap();
    let refused = change().by(&operator()).await.unwrap_err();
    assert_eq!(refused.kind(), ControlErrorKind::Conflict, "{refused}");
    assert_eq!(control.versions(&Scoring).await.unwrap().len(), 2);
}

#[tokio::test]
async fn of_two_operators_who_go_back_or_end_a_profile_the_second_is_told() {
    let (control, _) = plane(reply(1, 1)).await;
    let first = activate(&control, scoring()).await;
    let second = activate(&control, scoring().model("p", "m2")).await;
    let third = activate(&control, scoring().model("p", "m3")).await;
    for change in [
        control.rollback(first).replacing(second),
        control.deactivate(second).replacing(second),
        control.deactivate(third).replacing(second),
    ] {
        let refused = change.by(&operator()).await.unwrap_err();
        assert_eq!(refused.kind(), ControlErrorKind::Conflict, "{refused}");
    }
    let model = control.versions(&Scoring).await.unwrap();
    let active = model.iter().filter(|one| one.deactivated_at.is_none());
    let active: Vec<_> = active.map(|one| one.version).collect();
    assert_eq!(active, [third]);
    let back = control.rollback(first).replacing(third);
    assert_eq!(back.by(&operator()).await.unwrap().version, first);
    let ended = control.deactivate(first).replacing(first);
    ended.by(&operator()).await.unwrap();
}

#[tokio::test]
async fn an_organisation_with_an_empty_id_does_not_replace_the_global_profile() {
    let (control, _) = plane(reply(1, 1)).await;
    let global = activate(&control, scoring().override_class(OverrideClass::Open)).await;
    let nobody = Principal::new("x", "");
    for profile in [
        ModelProfile::org("", Scoring),
        ModelProfile::domain("", "", Scoring),
        ModelProfile::domain("", "x", Scoring),
        ModelProfile::domain("acme", "", Scoring),
    ] {
        for who in [&nobody, &admin(), &operator()] {
            let change = control.activate(profile.clone().model("p", "evil"));
            let refused = change.by(who).await.unwrap_err();
            assert_eq!(refused.kind(), ControlErrorKind::Invalid, "{refused}");
            assert!(refused.to_string().contains("an empty id"), "{refused}");
        }
    }
    let versions = control.versions(&Scoring).await.unwrap();
    assert_eq!((versions.len(), versions[0].version), (1, global));
    assert_eq!(versions[0].deactivated_at, None);
}

#[tokio::test]
async fn a_profile_with_a_defect_is_refused() {
    let (control, _) = plane(reply(1, 1)).await;
    let long = (0..9).fold(scoring(), |profile, index| {
        profile.fallback("p", format!("m{index}"))
    });
    for (profile, why) in [
        (ModelProfile::global(Scoring), "names no model"),
        (scoring().fallback("p", ""), "names no model"),
        (scoring().fallback("p", "n").fallback("p", "m"), "twice"),
        (long, "10 models"),
        // L23: another provider is a decision of its own.
        (scoring().fallback("q", "m"), "across_providers"),
        (scoring().rate(per_minute(0)), "permits no call"),
        (scoring().daily_cap(usd(0)), "not a valid amount"),
        (scoring().daily_cap(usd(-1)), "not a valid amount"),
        (of_acme("m").approve("p", "n"), "is an override"),
        (
            ModelProfile::global(PurposeKey::extra("triage")).model("p", "m"),
            "not registered",
        ),
    ] {
        let refused = control.activate(profile).by(&operator()).await.unwrap_err();
        assert_eq!(refused.kind(), ControlErrorKind::Invalid);
        assert!(refused.to_string().contains(why), "{refused} ({why})");
    }
    assert_eq!(control.changes(0).await.unwrap(), []);
    let control = naming(&SqliteStore::in_memory().await.unwrap()).purpose("triage");
    activate(
        &control,
        ModelProfile::global("triage".into()).model("p", "m"),
    )
    .await;
}

#[tokio::test]
async fn l23_a_fallback_of_another_provider_is_permitted_on_request() {
    let (control, _) = plane(reply(1, 1)).await;
    activate(&control, scoring().fallback("p", "n")).await;
    let other = scoring().fallback("q", "m");
    let refused = control.activate(other.clone()).by(&operator()).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.kind(), ControlErrorKind::Invalid);
    assert!(
        refused.to_string().contains("across_providers"),
        "{refused}"
    );
    activate(&control, other.across_providers()).await;
}
