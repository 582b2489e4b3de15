//! Reasons for which the predefined policies deny a call. Models are told of them.

use crate::tool::Pattern;

// ---- effects ----

fn undeclared(tool: &str) -> String {
    format!("the effects of `{tool}` are not declared")
}

pub(super) fn undeclared_and_read_only(tool: &str) -> String {
    format!("{}, and this run is read-only", undeclared(tool))
}

pub(super) fn writes_and_read_only(tool: &str) -> String {
    format!("`{tool}` writes, and this run is read-only")
}

pub(super) fn undeclared_and_internal(tool: &str) -> String {
    let undeclared = undeclared(tool);
    format!("{undeclared}, and this run forbids effects outside the organisation")
}

pub(super) fn external_and_internal(tool: &str) -> String {
    format!("`{tool}` has effects outside the organisation, which this run forbids")
}

// ---- names ----

pub(super) fn blocked(tool: &str, reason: &str) -> String {
    format!("`{tool}` is blocked: {reason}")
}

pub(super) fn denied_by_pattern(tool: &str, pattern: &Pattern) -> String {
    format!("`{tool}` may not be used in this run (`{pattern}`)")
}

pub(super) fn not_among(tool: &str, allowed: &[Pattern]) -> String {
    let allowed: Vec<_> = allowed.iter().map(|name| format!("`{name}`")).collect();
    match &allowed[..] {
        [] => format!("`{tool}` may not be used: this run has no tools"),
        allowed => format!(
            "`{tool}` may not be used; this run has {}",
            allowed.join(", ")
        ),
    }
}
