//! The resolver beside a naive model of it.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

use agents_control::{
    ActiveProfiles, Candidate, CredentialSource, ModelProfile, OverrideClass, PurposeKey, Tier,
    per_minute, resolve_active_profile, usd,
};
use proptest::prelude::*;

fn tier() -> impl Strategy<Value = Tier> {
    let org = prop_oneof![Just("a"), Just("b")];
    let domain = prop_oneof![Just("x"), Just("y")];
    prop_oneof![
        2 => Just(Tier::Global),
        3 => org.clone().prop_map(|org_id| Tier::Org { org_id: org_id.into() }),
        3 => (org, domain).prop_map(|(org_id, domain_id)| Tier::Domain {
            org_id: org_id.into(),
            domain_id: domain_id.into(),
        }),
    ]
}

fn purpose() -> impl Strategy<Value = PurposeKey> {
    prop_oneof![
        Just(PurposeKey::Scoring),
        Just(PurposeKey::Detection),
        Just(PurposeKey::extra("triage")),
    ]
}

fn candidate() -> impl Strategy<Value = Candidate> {
    let provider = prop_oneof![Just("p"), Just("q")];
    let model = prop_oneof![Just("1"), Just("2"), Just("3")];
    (provider, model).prop_map(|(provider, model)| Candidate::new(provider, model))
}

prop_compose! {
    fn profile()(
        tier in tier(),
        purpose in purpose(),
        model in candidate(),
        fallbacks in prop::collection::vec(candidate(), 0..2),
        approved in prop::collection::vec(candidate(), 0..3),
        class in prop::option::of(prop_oneof![
            Just(OverrideClass::Locked),
            Just(OverrideClass::OperatorAllowed),
            Just(OverrideClass::Open),
        ]),
        credential in prop::option::of(prop_oneof![Just("k1"), Just("k2")]),
        calls in prop::option::of(1..5_u32),
        cap in prop::option::of(1..5_u32),
    ) -> ModelProfile {
        let (provider, name) = (model.provider, model.model);
        let mut profile = match tier {
            Tier::Global => ModelProfile::global(purpose),
            Tier::Org { org_id } => ModelProfile::org(org_id, purpose),
            Tier::Domain { org_id, domain_id } => ModelProfile::domain(org_id, domain_id, purpose),
        }
        .model(provider, name);
        profile.fallbacks = fallbacks;
        profile.approved = approved;
        profile.override_class = class;
        if let Some(name) = credential {
            profile = profile.credential(name);
        }
        profile.rate_limit = calls.map(per_minute);
        if let Some(cap) = cap {
            profile = profile.daily_cap(usd(cap));
        }
        profile
    }
}

/// Result that the resolver has to find, looked up in a plain list: the profile, and the profiles from the nearest tier on.
fn naive<'a>(
    list: &'a [ModelProfile],
    domain: Option<&str>,
    org: &str,
    purpose: &PurposeKey,
) -> Vec<&'a ModelProfile> {
    let of = |org_id: Option<&str>, domain_id: Option<&str>| {
        list.iter().rev().find(|profile| {
            profile.purpose == *purpose
                && profile.tier.org_id() == org_id
                && profile.tier.domain_id() == domain_id
        })
    };
    let global = of(None, None);
    let class = match global.and_then(|global| global.override_class) {
        Some(class) => class,
        None if *purpose == PurposeKey::Detection => OverrideClass::Locked,
        None => OverrideClass::OperatorAllowed,
    };
    let counts = |profile: &&ModelProfile| match (class, global) {
        (OverrideClass::Locked, _) => false,
        (OverrideClass::Open, _) | (_, None) => true,
        (OverrideClass::OperatorAllowed, Some(global)) => {
            let mut known = global.approved.clone();
            known.extend(global.chain());
            profile.chain().iter().all(|one| known.contains(one))
        }
    };
    let domain = domain.and_then(|domain| of(Some(org), Some(domain)));
    let found = [
        domain.filter(counts),
        of(Some(org), None).filter(counts),
        global,
    ];
    found.into_iter().flatten().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100_000, max_shrink_iters: 10_000, ..ProptestConfig::default() })]

    #[test]
    fn l3_the_resolver_finds_what_a_naive_model_finds(
        list in prop::collection::vec(profile(), 0..8),
        domain in prop::option::of(prop_oneof![Just("x"), Just("y"), Just("z")]),
        org in prop_oneof![Just("a"), Just("b"), Just("c")],
        purpose in purpose(),
    ) {
        let mut active = ActiveProfiles::default();
        for (version, profile) in (1..).zip(&list) {
            active.insert(profile.clone(), version);
        }
        let found = resolve_active_profile(&active, domain, org, &purpose);
        let expect = naive(&list, domain, org, &purpose);
        let Some(first) = expect.first() else {
            prop_assert_eq!(found, None);
            return Ok(());
        };
        let found = found.expect("the naive model has found one");
        prop_assert_eq!(&found.tier, &first.tier);
        prop_assert_eq!(&found.chain, &first.chain());
        let at = list.iter().rposition(|profile| profile == *first).unwrap();
        let same = usize::try_from(found.version).unwrap() - 1;
        prop_assert!(same <= at && list[same] == list[at]);
        // Limits of whoever pays itself are for its provider.
        let limits: Vec<_> = expect
            .iter()
            .filter(|one| {
                one.tier == first.tier
                    || one.credential_source == CredentialSource::Managed
                    || first.chain().iter().all(|model| model.provider == one.provider)
            })
            .collect();
        prop_assert_eq!(found.rate_limit, limits.iter().find_map(|one| one.rate_limit));
        prop_assert_eq!(found.daily_cap_nanos, limits.iter().find_map(|one| one.daily_cap_nanos));
        // A credential is never sent to a provider that it is not for, nor that of one tenant to another.
        let of = expect
            .iter()
            .find(|one| one.credential_ref.is_some() && one.provider == first.provider);
        prop_assert_eq!(&found.credential_ref, &of.and_then(|one| one.credential_ref.clone()));
        let source = of.map_or(CredentialSource::Managed, |one| one.credential_source);
        prop_assert_eq!(found.credential_source, source);
    }
}

#[test]
fn limits_for_a_credential_of_its_own_are_not_those_of_models_that_the_platform_pays_for() {
    use PurposeKey::Scoring;

    let global = ModelProfile::global(Scoring)
        .model("p", "1")
        .override_class(OverrideClass::Open)
        .rate(per_minute(10))
        .daily_cap(usd(10));
    let own = ModelProfile::org("acme", Scoring)
        .model("q", "1")
        .credential("own")
        .rate(per_minute(1_000))
        .daily_cap(usd(1_000));
    let workspace = || ModelProfile::domain("acme", "x", Scoring);
    let limits = |workspace: ModelProfile| {
        let mut active = ActiveProfiles::default();
        for (version, profile) in (1..).zip([&global, &own, &workspace]) {
            active.insert(profile.clone(), version);
        }
        let found = resolve_active_profile(&active, Some("x"), "acme", &Scoring).unwrap();
        (found.rate_limit, found.daily_cap_nanos)
    };
    let of = |profile: &ModelProfile| (profile.rate_limit, profile.daily_cap_nanos);
    assert_eq!(limits(workspace().model("p", "1")), of(&global));
    let across = workspace().model("q", "1").fallback("p", "1");
    assert_eq!(limits(across), of(&global), "the platform pays for `p`");
    assert_eq!(limits(workspace().model("q", "2")), of(&own));
    // Its own limits hold in any case.
    let lower = workspace().model("p", "1").daily_cap(usd(1));
    assert_eq!(limits(lower), (global.rate_limit, Some(usd(1).nanos())));
}

fn of_acme() -> ModelProfile {
    ModelProfile::org("acme", PurposeKey::Scoring)
        .model("openai", "gpt-6-mini")
        .fallback("openai", "gpt-6-nano")
        .credential("openai")
        .rate(per_minute(60))
        .daily_cap(usd(0.5))
}

#[test]
fn l2_a_profile_on_the_wire() {
    assert_eq!(
        serde_json::to_value(of_acme()).unwrap(),
        serde_json::json!({
            "tier": {"org": {"org_id": "acme"}},
            "purpose": "scoring",
            "provider": "openai",
            "model": "gpt-6-mini",
            "credential_source": "org_byo",
            "credential_ref": "openai",
            "fallbacks": [{"provider": "openai", "model": "gpt-6-nano"}],
            "rate_limit": {"calls": 60, "per_ms": 60_000},
            "daily_cap_nanos": 500_000_000,
        })
    );
}

#[test]
fn l5_a_resolved_profile_on_the_wire() {
    let mut active = ActiveProfiles::default();
    active.insert(of_acme(), 7);
    let resolved = resolve_active_profile(&active, None, "acme", &PurposeKey::Scoring);
    assert_eq!(
        serde_json::to_value(resolved.unwrap()).unwrap(),
        serde_json::json!({
            "purpose": "scoring",
            "tier": {"org": {"org_id": "acme"}},
            "version": 7,
            "chain": [
                {"provider": "openai", "model": "gpt-6-mini"},
                {"provider": "openai", "model": "gpt-6-nano"},
            ],
            "credential_source": "org_byo",
            "credential_ref": "openai",
            "rate_limit": {"calls": 60, "per_ms": 60_000},
            "daily_cap_nanos": 500_000_000,
            "max_output_tokens": null,
            "degradation": null,
        })
    );
}
