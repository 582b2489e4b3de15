-- Reasons why a call needs approval, as JSON.
ALTER TABLE agent_approvals ADD COLUMN reasons TEXT;

-- Modes: which calls run without a question. The mode of the tenant `*` is that of all tenants without one of their own.
CREATE TABLE agent_modes (
    tenant_id TEXT PRIMARY KEY,
    mode TEXT NOT NULL,
    set_by TEXT NOT NULL,
    set_at BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    proof BYTEA NOT NULL
);
ALTER TABLE agent_modes ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON agent_modes FOR SELECT
    USING (tenant_id = '*' OR tenant_id = nullif(current_setting('agents.tenant', true), ''));

-- The last event of the trail of what belongs to no run. It is the owner's alone.
CREATE TABLE agent_platform (
    one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one),
    audit_seq BIGINT NOT NULL DEFAULT 0,
    audit_digest BYTEA NOT NULL DEFAULT ''
);
INSERT INTO agent_platform DEFAULT VALUES;
ALTER TABLE agent_platform ENABLE ROW LEVEL SECURITY;

-- Events may belong to no run: their number of a run is 0.
ALTER TABLE agent_audit_events DROP CONSTRAINT agent_audit_events_run_fkey;
