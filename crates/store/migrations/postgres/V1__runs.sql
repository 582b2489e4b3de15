-- Times are milliseconds since 1970, by the clock of the server.
CREATE TABLE agent_runs (
    number BIGINT GENERATED ALWAYS AS IDENTITY,
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    key TEXT,
    agent_name TEXT NOT NULL,
    started_by TEXT,
    priority INTEGER NOT NULL,
    data BYTEA NOT NULL,
    data_key BYTEA NOT NULL,
    status TEXT NOT NULL,
    wake_at BIGINT,
    lease_owner TEXT,
    lease_until BIGINT,
    fence BIGINT NOT NULL DEFAULT 0,
    claims BIGINT NOT NULL DEFAULT 0,
    messages BIGINT NOT NULL DEFAULT 0,
    ended TEXT,
    held TEXT,
    cancelled_by TEXT,
    last_seq BIGINT NOT NULL DEFAULT 0,
    last_commit TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
) WITH (fillfactor = 80); -- room for new versions of a row beside the old ones
CREATE UNIQUE INDEX idx_agent_runs_number ON agent_runs(number);
CREATE UNIQUE INDEX idx_agent_runs_key ON agent_runs(tenant_id, agent_name, key) WHERE key IS NOT NULL;
CREATE INDEX idx_agent_runs_tenant ON agent_runs(tenant_id, number);
-- What claims look for: the next run that is ready, those that wait for a time, and those under way. `lease_until` is in
-- no index, so that a renewal touches none.
CREATE INDEX idx_agent_runs_ready ON agent_runs(priority DESC, updated_at, number) WHERE status = 'ready';
CREATE INDEX idx_agent_runs_wake ON agent_runs(wake_at) WHERE status = 'waiting' AND wake_at IS NOT NULL;
CREATE INDEX idx_agent_runs_running ON agent_runs(tenant_id) WHERE status = 'running';

CREATE TABLE agent_run_commits (
    run_id TEXT NOT NULL REFERENCES agent_runs(id),
    last_seq BIGINT NOT NULL,
    after_seq BIGINT NOT NULL,
    entries BYTEA NOT NULL,
    committed_at BIGINT NOT NULL,
    PRIMARY KEY (run_id, last_seq)
);

CREATE TABLE agent_approvals (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
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
    requested_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    status TEXT NOT NULL,
    detail BYTEA NOT NULL,
    decided_by TEXT,
    decided_at BIGINT,
    note TEXT,
    edited BYTEA,
    edited_digest TEXT,
    use_by BIGINT,
    proof BYTEA,
    UNIQUE (run_id, request)
);
CREATE INDEX idx_agent_approvals_pending ON agent_approvals(tenant_id, number) WHERE status = 'pending';
CREATE INDEX idx_agent_approvals_expiry ON agent_approvals(expires_at) WHERE status = 'pending';

CREATE TABLE agent_tool_executions (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    run_id TEXT NOT NULL REFERENCES agent_runs(id),
    call_id TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    agent_name TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    version TEXT NOT NULL,
    input BYTEA NOT NULL,
    output BYTEA,
    approved BOOLEAN NOT NULL DEFAULT FALSE,
    approved_by TEXT,
    risk_level TEXT NOT NULL,
    executed_at BIGINT NOT NULL,
    duration_ms BIGINT,
    error TEXT,
    effect_unknown BOOLEAN NOT NULL DEFAULT FALSE,
    rolled_back BOOLEAN NOT NULL DEFAULT FALSE,
    rolled_back_at BIGINT
);
CREATE INDEX idx_tool_executions_tenant ON agent_tool_executions(tenant_id, executed_at DESC);
CREATE INDEX idx_tool_executions_tool ON agent_tool_executions(tool_name, executed_at DESC);
CREATE INDEX idx_tool_executions_run ON agent_tool_executions(run_id, executed_at);

-- A role that is not the owner of the tables has the rows of one tenant: the one that its setting `agents.tenant` names.
-- A setting that was never made is empty once a transaction has made it for itself, so that an empty one names nobody.
ALTER TABLE agent_runs ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON agent_runs
    USING (tenant_id = nullif(current_setting('agents.tenant', true), ''));
ALTER TABLE agent_run_commits ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON agent_run_commits
    USING (EXISTS (SELECT 1 FROM agent_runs
                   WHERE id = run_id AND tenant_id = nullif(current_setting('agents.tenant', true), '')));
ALTER TABLE agent_approvals ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON agent_approvals
    USING (tenant_id = nullif(current_setting('agents.tenant', true), ''));
ALTER TABLE agent_tool_executions ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON agent_tool_executions
    USING (tenant_id = nullif(current_setting('agents.tenant', true), ''));
