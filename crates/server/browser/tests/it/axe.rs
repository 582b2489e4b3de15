//! Every page, held against the rules of axe-core: light and dark, wide and narrow.
//!
//! `npm install --no-save --prefix target/axe axe-core@4` fetches axe-core. Where it is missing, one line says so.

use crate::{
    CARDS, approve,
    driver::Browser,
    room::{Program, folder, ledger, until},
};
use agents_needs::Need;
use serde_json::{Value, json};
use std::{fs, path::Path};

/// Pages that are held against the rules. A new page is a line here. `{request}`, `{run}`, `{execution}` and `{call}` stand for
/// those of a payment that was approved; `{waiting}` stands for a request that waits.
const PAGES: &[&str] = &[
    "/approvals",
    "/approvals?status=consumed",
    "/approvals?status=expired",
    "/approvals?decided=1&how=approve",
    "/approvals/{request}",
    "/approvals/{waiting}",
    "/runs",
    "/runs?agent=nobody",
    "/chat",
    "/chat/office",
    "/letters",
    "/letters?handler_name=nobody",
    "/failures",
    "/failures?severity=CRITICAL",
    "/runs/{run}",
    "/runs/{run}/executions/{execution}",
    "/runs/{run}/calls/{call}",
    "/tools",
    "/tools?q=nothing",
    "/tools/office/pay/1.0.0",
    "/tools/office/pay/1.0.0?run={run}",
    "/teams",
    "/teams/office",
    "/models",
    "/models/agent_tool",
    "/costs",
    "/audit",
    "/audit?verify=yes",
    "/nothing",
];

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../target/axe/node_modules/axe-core/axe.min.js"
);

/// Gives `done` a line for each serious or critical finding about each element.
const CHECK: &str = "
    document.querySelectorAll('details').forEach((details) => { details.open = true; });
    axe.run(document, {resultTypes: ['violations']}).then((found) => {
        const grave = found.violations.filter((one) => ['serious', 'critical'].includes(one.impact));
        const told = (one) => one.nodes.map((node) => `${one.impact} ${one.id}: ${one.help}: ${node.html} ${node.failureSummary}`);
        done(grave.flatMap(told));
    }, (error) => done([`axe-core has failed: ${error}`]));";

/// Returns the source of axe-core; `None` if it is not on this machine, which is said.
pub(crate) fn source() -> Option<String> {
    let source = fs::read_to_string(Path::new(SCRIPT)).ok();
    if source.is_none() {
        Need::Axe.missing("there is no axe-core");
    }
    source
}

/// Puts axe-core into the page that is open. The driver does it, so the policy of the page stays as it is.
pub(crate) fn put(browser: &Browser, axe: &str) {
    let put = format!("{axe}; return typeof axe.run");
    assert_eq!(browser.run(&put), "function");
}

/// Returns the serious and critical findings about the page that is open.
pub(crate) fn findings(browser: &Browser) -> Vec<String> {
    let found = browser.run_until_done(CHECK);
    let lines = found.as_array().unwrap().iter().map(Value::to_string);
    lines.collect()
}

/// Returns the last part of the address of the first link that the selector finds on a page.
fn end_of_link(browser: &Browser, page: &str, selector: &str) -> String {
    browser.open(page);
    let script = format!("return document.querySelector(\"{selector}\").pathname.split('/').pop()");
    browser.run(&script).as_str().unwrap().to_owned()
}

#[test]
fn no_page_has_a_serious_finding_of_axe_core() {
    let Some(axe) = source() else { return };
    let Some(browser) = Browser::start(1200, 900, true) else {
        return;
    };
    browser.show(1200, false);
    let folder = folder("axe");
    let room = Program::start(&folder);
    until("the requests", || {
        browser.open(&room.url);
        (browser.run(CARDS) == 3).then_some(())
    });
    approve(&browser, ".card");
    ledger(&folder, 1);
    let (origin, _) = room.url.split_once("/?").unwrap();
    let request = until("the request that was used", || {
        browser.open(&format!("{origin}/approvals?status=consumed"));
        let id = browser.run("return document.querySelector('.card')?.dataset.approvalId");
        id.as_str().map(str::to_owned)
    });
    let at = |path: &str| format!("{origin}{path}");
    let run = end_of_link(
        &browser,
        &at(&format!("/approvals/{request}")),
        ".facts a[href^='/runs/']",
    );
    let of_run = at(&format!("/runs/{run}"));
    let execution = end_of_link(&browser, &of_run, "a[href*='/executions/']");
    let call = end_of_link(&browser, &of_run, "a[href*='/calls/']");
    let waiting = end_of_link(&browser, &at("/approvals"), ".card h3 a");

    // What is not found here would not be found anywhere.
    browser.run("document.querySelector('main').append(document.createElement('input')); return 0");
    put(&browser, &axe);
    let planted = findings(&browser);
    assert!(
        planted.len() == 1 && planted[0].contains("critical label"),
        "{planted:#?}"
    );

    let mut all = Vec::new();
    for page in PAGES {
        let path = page
            .replace("{request}", &request)
            .replace("{waiting}", &waiting)
            .replace("{run}", &run)
            .replace("{execution}", &execution)
            .replace("{call}", &call);
        browser.open(&at(&path));
        put(&browser, &axe);
        for (width, is_dark) in [(1200, false), (1200, true), (380, true), (380, false)] {
            browser.show(width, is_dark);
            for finding in findings(&browser) {
                all.push(format!("{page}, {width}, dark: {is_dark}: {finding}"));
            }
            let fits = "return [innerWidth, document.documentElement.scrollWidth <= innerWidth]";
            assert_eq!(browser.run(fits), json!([width, true]), "{page}");
        }
    }
    assert!(all.is_empty(), "{all:#?}");
    let _ = fs::remove_dir_all(&folder);
}
