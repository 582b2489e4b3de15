//! Checks of a team before a run: all defects are found at once.

use super::{OwnTool, Placement, Profile, wording};
use crate::{
    Error, ErrorKind,
    budget::Budget,
    evidence,
    tool::{Pattern, nearest},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

/// Checks the team below `root`, and reports all defects in one error. `has_model` is `false` if it is known that no
/// model from outside drives the team.
pub(crate) fn check(root: &Placement, has_model: bool) -> Result<(), Error> {
    let found = found(root, has_model).into_iter();
    let lines = found.flat_map(|Found { path, defects }| {
        let at_its_place = move |defect| format!("{path}: {defect}");
        defects.into_iter().map(at_its_place)
    });
    let defects: Vec<_> = lines.collect();
    if defects.is_empty() {
        return Ok(());
    }
    let message = wording::defects_of_team(&root.name, &defects);
    Err(Error::new(ErrorKind::Build, message))
}

/// Checks an agent and all the parts that it is known to have, before a run begins. `has_model` says whether the run
/// can drive agents that bring no model.
pub(crate) fn check_run(whole: &Profile, has_model: bool) -> Result<(), Error> {
    if let Some(root) = &whole.team {
        return check(root, has_model);
    }
    let own = whole.defects.iter().map(|defect| defect.text.clone());
    let tools: Vec<_> = whole.all_tools().collect();
    let unreachable = unreachable(whole, &tools);
    let unmet = whole.needs_model.iter().filter(|_| !has_model).cloned();
    let teams = whole.teams.iter();
    let teams = teams.filter_map(|team| check(team, has_model).err());
    let teams = teams.map(|error| error.to_string());
    let defects: Vec<_> = own.chain(unreachable).chain(unmet).chain(teams).collect();
    match defects.is_empty() {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::Build, defects.join("; "))),
    }
}

/// Defects that were found at one place of a team.
pub(crate) struct Found {
    /// Names of the agents from the root to this place, as `root / parent / agent`.
    path: String,
    pub(crate) defects: Vec<String>,
}

/// Returns the defects at each place of the team. A place comes before the places below it.
pub(crate) fn found(root: &Placement, has_model: bool) -> Vec<Found> {
    let mut check = Check::default();
    check.visit(root, &mut Vec::new(), has_model);
    check.found
}

#[derive(Default)]
struct Check {
    found: Vec<Found>,
    /// Path in the team of every agent seen so far, by its name; no agent may be placed twice.
    seen: BTreeMap<String, String>,
}

impl Check {
    fn visit<'t>(&mut self, here: &'t Placement, above: &mut Vec<&'t Placement>, has_model: bool) {
        let names = above.iter().chain([&here]).map(|place| &*place.name);
        let path = names.collect::<Vec<_>>().join(" / ");
        let twice = self.seen.insert(here.name.clone(), path.clone());
        let mut defects = Vec::new();
        defects.extend(twice.map(|other| wording::placed_twice(&here.name, &other)));
        defects.extend(reaches_nobody(here).map(str::to_owned));
        defects.extend(bounds_nobody(here));
        let is_root = above.is_empty() && here.background.is_some();
        defects.extend(is_root.then(|| wording::ROOT_IN_BACKGROUND.to_owned()));
        // If the agent here is a team of its own, the placement of that team's root counts.
        let place = here.inner();
        if !place.profile.is_composite {
            unknown(place, &mut defects);
            same_names(place, &mut defects);
        }
        granted_and_confirmed(place, &mut defects);
        beyond(place, above, &mut defects);
        unconfirmed(place, above, &mut defects);
        defects.extend(here.budget.defect("its place"));
        above_budget(here, above, &mut defects);
        let delegates: Vec<_> = place.delegate_names().collect();
        skills(place, &delegates, &mut defects);
        let own = place.profile.defects.iter();
        let own = own.filter(|own| !delegates.iter().any(|name| own.is_mended_by(name)));
        defects.extend(own.map(|own| own.text.clone()));
        let unmet = place.profile.needs_model.iter().filter(|_| !has_model);
        defects.extend(unmet.cloned());
        let mut below = Vec::new();
        tools_below(place, &mut below);
        defects.extend(unreachable(&place.profile, &below));
        let has_model = has_model || place.profile.brings_model;
        self.found.push(Found { path, defects });
        above.push(here);
        for below in &place.delegates {
            self.visit(below.placement(), above, has_model);
        }
        for team in &place.profile.teams {
            // A part may be placed there any number of times, and so may all agents below it.
            let seen = mem::take(&mut self.seen);
            self.visit(team, above, has_model);
            self.seen = seen;
        }
        above.pop();
    }
}

/// Returns a defect if grants, confirmations or delegates are set for a composite or, from outside, for a team:
/// they would reach no agent.
fn reaches_nobody(here: &Placement) -> Option<&'static str> {
    let says_nothing =
        here.granted.is_none() && here.confirmed.is_empty() && here.delegates.is_empty();
    if says_nothing {
        None
    } else if here.profile.team.is_some() {
        Some(wording::TEAM_OF_ITS_OWN)
    } else if here.profile.is_composite {
        Some(wording::GRANTED_TO_A_COMPOSITION)
    } else {
        None
    }
}

/// Returns a defect if a composite has a bound that each agent has by itself, such as turns: its parts do not share
/// such a bound.
fn bounds_nobody(here: &Placement) -> Option<String> {
    let bounds: Vec<_> = here.bounds().bounds_of_each().in_words().collect();
    (here.profile.is_composite && !bounds.is_empty())
        .then(|| wording::bounds_of_a_composition(&bounds))
}

/// Adds a defect for each granted or confirmed name that no tool has, here or below: grants are handed down. The names
/// of delegates may be confirmed, too.
fn unknown(here: &Placement, defects: &mut Vec<String>) {
    let mut below = Vec::new();
    tools_below(here, &mut below);
    let known: BTreeSet<_> = below.iter().map(|tool| tool.name()).collect();
    let delegates: Vec<_> = here.delegate_names().collect();
    let granted = here.granted.iter().flatten();
    let is_delegate = |name: &Pattern| delegates.iter().any(|delegate| name.matches(delegate));
    let confirmed = here.confirmed.iter().filter(|name| !is_delegate(name));
    for name in granted.chain(confirmed) {
        if below.iter().any(|tool| tool.may_match(name)) {
            continue;
        }
        let meant = nearest(name.as_str(), known.iter().copied());
        defects.push(match (name.is_name(), meant) {
            (false, _) => wording::no_tool_like(name),
            (true, Some(meant)) => wording::misspelt_tool(name, meant),
            (true, None) => wording::no_tool(name, &known),
        });
    }
}

fn tools_below<'t>(here: &'t Placement, known: &mut Vec<&'t OwnTool>) {
    known.extend(here.profile.all_tools());
    for below in here.inner().below() {
        tools_below(below, known);
    }
}

/// Returns the defects of an agent whose answer claims calls of tools that are not among those within reach.
fn unreachable(profile: &Profile, within_reach: &[&OwnTool]) -> Vec<String> {
    let has = |name: &String| {
        let name = Pattern::from(name);
        within_reach.iter().any(|tool| tool.may_match(&name))
    };
    let claims = profile.claims.iter().filter(|name| !has(name));
    claims
        .map(|name| evidence::claims_unreachable(name))
        .collect()
}

/// Adds a defect if two tools or delegates have the same name: a model could not tell them apart.
fn same_names(here: &Placement, defects: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for tool in here.profile.tools() {
        if !seen.insert(tool.to_owned()) {
            defects.push(wording::two_tools(tool));
        }
    }
    let mut seen: BTreeSet<_> = here.tools().map(str::to_owned).collect();
    for name in here.delegate_names() {
        if !seen.insert(name.clone()) {
            defects.push(wording::delegate_named_as_a_tool(&name));
        }
    }
}

fn granted_and_confirmed(here: &Placement, defects: &mut Vec<String>) {
    for name in here.granted.iter().flatten() {
        // A granted pattern may cover tools that are confirmed.
        let contradicts = match name.is_name() {
            true => here.confirms(name.as_str()),
            false => here.confirmed.contains(name),
        };
        if contradicts {
            defects.push(wording::granted_and_confirmed(name));
        }
    }
}

/// Adds a defect for each grant or confirmation of a place that goes beyond the grants and confirmations of the nearest
/// agent above that has any grants. Without grants of its own, the place has one defect for all its tools beyond those
/// grants.
fn beyond(here: &Placement, above: &[&Placement], defects: &mut Vec<String>) {
    let authority = above.iter().rev().map(|place| place.inner());
    let Some(authority) = authority.into_iter().find(|place| place.granted.is_some()) else {
        return;
    };
    let limit = &authority.name;
    let own = here.granted.iter().flatten().chain(&here.confirmed);
    for name in own.clone() {
        let limits = authority
            .granted
            .iter()
            .flatten()
            .chain(&authority.confirmed);
        if !limits.clone().any(|limit| limit.covers(name)) {
            defects.push(wording::beyond_grants(name, limit));
        }
    }
    let unsaid = |tool: &&OwnTool| {
        let name = tool.name();
        here.has(tool)
            && !(tool.innate() || authority.admits(name))
            && !own.clone().any(|own| tool.may_match(own))
    };
    let unsaid = here.profile.tools.iter().filter(unsaid);
    let unsaid: Vec<_> = unsaid.map(OwnTool::name).collect();
    if !unsaid.is_empty() {
        defects.push(wording::all_tools_beyond_grants(&unsaid, limit));
    }
}

/// Adds a defect for each tool that an agent above may use only with a person's approval, and this one without.
/// Otherwise that agent could avoid the approval by asking this one.
fn unconfirmed(here: &Placement, above: &[&Placement], defects: &mut Vec<String>) {
    for tool in here.usable() {
        // Of tools that will be listed, those matter that may be used here.
        let is_free = |confirmed: &&Pattern| {
            let mut own = here.confirmed.iter();
            tool.may_match(confirmed)
                && !here.confirms(tool.name())
                && !own.any(|own| own.covers(confirmed))
        };
        let confirming = above.iter().find_map(|place| {
            let mut confirmed = place.inner().confirmed.iter();
            confirmed.find(is_free).map(|_| &place.name)
        });
        if let Some(name) = confirming {
            defects.push(wording::unconfirmed(name, tool.name()));
        }
    }
}

/// Adds a defect for each bound on tokens, cost, time, depth or recursion that is above that of an agent further up. The
/// agents below that one cannot use more.
fn above_budget(here: &Placement, above: &[&Placement], defects: &mut Vec<String>) {
    let mut compare = |bound: fn(&Budget) -> Option<Budget>| {
        let said = |budget: &Budget| bound(budget).and_then(|budget| budget.in_words().next());
        let limits = above
            .iter()
            .filter_map(|place| Some((bound(&place.bounds())?, place)));
        let Some(own) = bound(&here.budget) else {
            return;
        };
        for (limit, place) in limits {
            if own.tighter(&limit) != own {
                let (own, limit) = (
                    said(&own).unwrap_or_default(),
                    said(&limit).unwrap_or_default(),
                );
                defects.push(wording::above_budget(&own, &place.name, &limit));
                return;
            }
        }
    };
    compare(|budget| budget.tokens.map(|tokens| Budget::new().tokens(tokens)));
    compare(|budget| budget.cost.map(|cost| Budget::new().cost(cost)));
    compare(|budget| budget.time.map(|time| Budget::new().time(time)));
    compare(|budget| budget.depth.map(|depth| Budget::new().depth(depth)));
    compare(|budget| {
        budget
            .own_recursion()
            .map(|steps| Budget::new().max_recursion(steps))
    });
}

/// Adds a defect for each name or pattern that a skill lists and that no tool or delegate at this place has.
fn skills(here: &Placement, delegates: &[String], defects: &mut Vec<String>) {
    // The agent itself reports this defect.
    let is_lacking = |pattern: &Pattern| {
        let mut own = here.profile.defects.iter();
        own.any(|own| own.lacks.as_ref() == Some(pattern))
    };
    let has = |pattern: &Pattern| {
        let tools = &here.profile.tools;
        let is_meant = |tool: &&OwnTool| tool.may_match(pattern);
        tools.iter().filter(is_meant).any(|tool| here.has(tool))
            || delegates.iter().any(|delegate| pattern.matches(delegate))
            // An agent of code need not name its tools.
            || here.granted.is_none()
            || pattern.is_name() && here.admits(pattern.as_str())
            || is_lacking(pattern)
    };
    for skill in &here.profile.skills {
        let listed = skill.tools.iter().flatten().map(Pattern::from);
        for needed in listed.filter(|pattern| !has(pattern)) {
            let skill = &skill.name;
            defects.push(match needed.is_name() {
                true => wording::skill_without_its_tool(skill, &needed),
                false => wording::skill_without_its_tools(skill, &needed),
            });
        }
    }
}
