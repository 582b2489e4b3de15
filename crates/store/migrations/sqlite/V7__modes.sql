-- Reasons why a call needs approval, as JSON.
ALTER TABLE agent_approvals ADD COLUMN reasons TEXT;

-- Modes: which calls run without a question. The mode of the tenant `*` is that of all tenants without one of their own.
CREATE TABLE agent_modes (
    tenant_id TEXT PRIMARY KEY,
    mode TEXT NOT NULL,
    set_by TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    proof BLOB NOT NULL
) WITHOUT ROWID;

-- The last event of the trail of what belongs to no run.
CREATE TABLE agent_platform (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    audit_seq INTEGER NOT NULL DEFAULT 0,
    audit_digest BLOB NOT NULL DEFAULT x''
);
INSERT INTO agent_platform (one) VALUES (1);

-- Events may belong to no run: their number of a run is 0. The table is the same, without the reference.
CREATE TABLE agent_audit_events_of_all (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL,
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
    UNIQUE (run, seq)
);
INSERT INTO agent_audit_events_of_all
    SELECT number, run, seq, tenant_id, at, kind, actor, subject, tool_name, detail, row_digest, digest
    FROM agent_audit_events ORDER BY number;
DROP TABLE agent_audit_events;
ALTER TABLE agent_audit_events_of_all RENAME TO agent_audit_events;
CREATE INDEX idx_agent_audit_events_tenant ON agent_audit_events(tenant_id, number);
