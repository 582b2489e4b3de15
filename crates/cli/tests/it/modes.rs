//! `mode`.

use crate::desk::Desk;

#[tokio::test]
async fn a10_modes_are_set_listed_and_removed_by_operators_alone() {
    let desk = Desk::new("mode").await;
    // The keyring is there.
    desk.waiting("acme", "one").await;
    assert_eq!(desk.printed(&["mode"]), "");
    desk.agents(&["mode", "off"]).fails(2, "--tenant");
    desk.agents(&["mode", "never", "--all"])
        .fails(2, "up-to-low");
    desk.agents(&["mode", "off", "--all", "--tenant", "acme"])
        .fails(2, "cannot be used with");
    let listed = desk.printed(&["mode", "up-to-low", "--all"]);
    let (heading, row) = listed.split_once('\n').unwrap();
    assert!(heading.starts_with("TENANT"), "{listed}");
    assert!(
        row.starts_with("(all)   up_to_low  operator  20"),
        "{listed}"
    );

    let set = desk.agents(&["--json", "mode", "external-only", "--tenant", "acme"]);
    let set = set.succeeds().objects();
    assert_eq!(set[0]["mode"], "up_to_low", "that of all");
    assert_eq!(set[1]["mode"], "external_only");
    assert_eq!(set[1]["tenant_id"], "acme");
    desk.agents(&["--as", "ada", "--tenant", "acme", "mode", "off"])
        .fails(1, "`ada` is no operator");
    let removed = desk.printed(&["mode", "--remove", "--tenant", "acme"]);
    assert!(!removed.contains("acme"), "{removed}");

    let events = desk.agents(&["--json", "audit", "--run", "platform"]);
    let events = events.succeeds().objects();
    let told: Vec<_> = events
        .iter()
        .map(|event| {
            let text = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
            format!("{} {} {}", text("kind"), text("actor"), text("subject"))
        })
        .collect();
    assert_eq!(
        told,
        [
            "mode operator up_to_low",
            "mode operator external_only",
            "refused ada off",
            "mode operator ",
        ]
    );
    desk.agents(&["verify"]).succeeds();
    desk.by_hand("UPDATE agent_modes SET mode = 'off'");
    let changed = desk.agents(&["verify"]);
    assert!(
        changed.out.contains("of agent_modes was edited"),
        "{changed:?}"
    );
    desk.agents(&["mode"]).fails(1, "written by hand");
}
