-- Times are milliseconds since 1970.
CREATE TABLE agent_runs (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    key TEXT,
    agent_name TEXT NOT NULL,
    started_by TEXT,
    priority INTEGER NOT NULL,
    data BLOB NOT NULL,
    data_key BLOB NOT NULL,
    status TEXT NOT NULL,
    wake_at INTEGER,
    lease_owner TEXT,
    lease_until INTEGER,
    fence INTEGER NOT NULL DEFAULT 0,
    claims INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0,
    ended TEXT,
    held TEXT,
    cancelled_by TEXT,
    last_seq INTEGER NOT NULL DEFAULT 0,
    last_commit TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX idx_agent_runs_key ON agent_runs(tenant_id, agent_name, key) WHERE key IS NOT NULL;
CREATE INDEX idx_agent_runs_ready ON agent_runs(status, priority DESC, updated_at);
CREATE INDEX idx_agent_runs_tenant ON agent_runs(tenant_id, created_at DESC);

CREATE TABLE agent_run_commits (
    run_id TEXT NOT NULL REFERENCES agent_runs(id),
    last_seq INTEGER NOT NULL,
    after_seq INTEGER NOT NULL,
    entries BLOB NOT NULL,
    committed_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, last_seq)
) WITHOUT ROWID;

CREATE TABLE agent_approvals (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    run_id TEXT NOT NULL REFERENCES agent_runs(id),
    request TEXT NOT NULL,
    place TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    tenant_id TEXT NOT NULL,
    user_id TEXT,
    started_by TEXT,
    agent_name TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    version TEXT NOT NULL,
    args_summary TEXT NOT NULL,
    effect_description TEXT NOT NULL,
    risk_level TEXT NOT NULL,
    args_digest TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    detail BLOB NOT NULL,
    decided_by TEXT,
    decided_at INTEGER,
    note TEXT,
    edited BLOB,
    edited_digest TEXT,
    use_by INTEGER,
    proof BLOB,
    UNIQUE (run_id, request)
);
CREATE INDEX idx_agent_approvals_pending ON agent_approvals(tenant_id, number) WHERE status = 'pending';
CREATE INDEX idx_agent_approvals_expiry ON agent_approvals(expires_at) WHERE status = 'pending';

CREATE TABLE agent_tool_executions (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    run_id TEXT NOT NULL REFERENCES agent_runs(id),
    call_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    agent_name TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    version TEXT NOT NULL,
    input BLOB NOT NULL,
    output BLOB,
    approved INTEGER NOT NULL DEFAULT 0,
    approved_by TEXT,
    risk_level TEXT NOT NULL,
    executed_at INTEGER NOT NULL,
    duration_ms INTEGER,
    error TEXT,
    effect_unknown INTEGER NOT NULL DEFAULT 0,
    rolled_back INTEGER NOT NULL DEFAULT 0,
    rolled_back_at INTEGER
);
CREATE INDEX idx_tool_executions_tenant ON agent_tool_executions(tenant_id, executed_at DESC);
CREATE INDEX idx_tool_executions_tool ON agent_tool_executions(tool_name, executed_at DESC);
CREATE INDEX idx_tool_executions_run ON agent_tool_executions(run_id, executed_at);
