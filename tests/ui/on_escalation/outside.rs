use agents::on_escalation;

on_escalation!(match escalation.severity {
    _ => throw("no"),
});

fn main() {}
