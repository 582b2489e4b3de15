-- The trail of what was asked, decided, run and refused. The digests of a run's events are a chain.
CREATE TABLE agent_audit_events (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES agent_runs(id),
    seq BIGINT NOT NULL,
    tenant_id TEXT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    actor TEXT,
    subject TEXT,
    tool_name TEXT,
    detail BYTEA,
    row_digest BYTEA,
    digest BYTEA NOT NULL,
    UNIQUE (run_id, seq)
);
CREATE INDEX idx_agent_audit_events_tenant ON agent_audit_events(tenant_id, number);
ALTER TABLE agent_audit_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON agent_audit_events
    USING (tenant_id = nullif(current_setting('agents.tenant', true), ''));

-- Id of the key that the digests are made with.
CREATE TABLE agent_audit_key (one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one), id TEXT NOT NULL);

-- The last event of the run.
ALTER TABLE agent_runs ADD COLUMN audit_seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE agent_runs ADD COLUMN audit_digest BYTEA NOT NULL DEFAULT '';

CREATE INDEX idx_agent_approvals_unused ON agent_approvals(use_by) WHERE status = 'approved';
