-- A run has a number in the store, which stands for its id in the tables with a row or more for each step.
ALTER TABLE agent_runs ADD COLUMN number INTEGER;
UPDATE agent_runs SET number = rowid;
CREATE UNIQUE INDEX idx_agent_runs_number ON agent_runs(number);

CREATE TABLE numbered_commits (
    run INTEGER NOT NULL REFERENCES agent_runs(number),
    last_seq INTEGER NOT NULL,
    after_seq INTEGER NOT NULL,
    entries BLOB NOT NULL,
    committed_at INTEGER NOT NULL,
    PRIMARY KEY (run, last_seq)
) WITHOUT ROWID;
INSERT INTO numbered_commits
    SELECT number, last.last_seq, after_seq, entries, committed_at
    FROM agent_run_commits AS last JOIN agent_runs ON id = run_id ORDER BY number, last.last_seq;
DROP TABLE agent_run_commits;
ALTER TABLE numbered_commits RENAME TO agent_run_commits;

CREATE TABLE numbered_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES agent_runs(number),
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
INSERT INTO numbered_events
    SELECT event.number, run.number, seq, event.tenant_id, at, kind, actor, subject, tool_name, detail, row_digest, digest
    FROM agent_audit_events AS event JOIN agent_runs AS run ON run.id = event.run_id ORDER BY event.number;
DROP TABLE agent_audit_events;
ALTER TABLE numbered_events RENAME TO agent_audit_events;
CREATE INDEX idx_agent_audit_events_tenant ON agent_audit_events(tenant_id, number);

ALTER TABLE agent_tool_executions ADD COLUMN run INTEGER REFERENCES agent_runs(number);
UPDATE agent_tool_executions SET run = (SELECT number FROM agent_runs WHERE id = run_id);
DROP INDEX idx_tool_executions_run;
CREATE INDEX idx_tool_executions_run ON agent_tool_executions(run);
