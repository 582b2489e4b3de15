-- The trail of what was asked, decided, run and refused. The digests of a run's events are a chain.
CREATE TABLE agent_audit_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL REFERENCES agent_runs(id),
    seq INTEGER NOT NULL,
    tenant_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT,
    subject TEXT,
    tool_name TEXT,
    detail BLOB,
    row_digest BLOB,
    digest BLOB NOT NULL,
    UNIQUE (run_id, seq)
);
CREATE INDEX idx_agent_audit_events_tenant ON agent_audit_events(tenant_id, number);

-- Id of the key that the digests are made with.
CREATE TABLE agent_audit_key (id TEXT NOT NULL);

-- The last event of the run.
ALTER TABLE agent_runs ADD COLUMN audit_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_runs ADD COLUMN audit_digest BLOB NOT NULL DEFAULT x'';

CREATE INDEX idx_agent_approvals_unused ON agent_approvals(use_by) WHERE status = 'approved';
