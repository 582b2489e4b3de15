CREATE TABLE refinery_schema_history(
             version int4 PRIMARY KEY,
             name VARCHAR(255),
             applied_on VARCHAR(255),
             checksum VARCHAR(255));
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
, audit_seq INTEGER NOT NULL DEFAULT 0, audit_digest BLOB NOT NULL DEFAULT x'', labels TEXT NOT NULL DEFAULT '{}', paused_by TEXT, conversation TEXT, number INTEGER, held_kind TEXT, held_by TEXT);
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
    proof BLOB, reasons TEXT,
    UNIQUE (run_id, request)
);
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
, had_effect INTEGER, settled_by TEXT, settled_at INTEGER, settled_proof BLOB, run INTEGER REFERENCES agent_runs(number));
CREATE TABLE agent_audit_key (id TEXT NOT NULL);
CREATE TABLE agent_webhooks (
    name TEXT PRIMARY KEY,
    seen INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE agent_deliveries (
    webhook TEXT NOT NULL,
    event INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER,
    error TEXT,
    PRIMARY KEY (webhook, event)
) WITHOUT ROWID;
CREATE TABLE agent_conversations (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    -- The run that left the contents. They are encrypted with its key.
    run_id TEXT REFERENCES agent_runs(id),
    contents BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE TABLE agent_run_texts (
    run_id TEXT NOT NULL REFERENCES agent_runs(id),
    number INTEGER NOT NULL,
    contents BLOB NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, number)
) WITHOUT ROWID;
CREATE TABLE "agent_run_commits" (
    run INTEGER NOT NULL REFERENCES agent_runs(number),
    last_seq INTEGER NOT NULL,
    after_seq INTEGER NOT NULL,
    entries BLOB NOT NULL,
    committed_at INTEGER NOT NULL,
    PRIMARY KEY (run, last_seq)
) WITHOUT ROWID;
CREATE TABLE agent_modes (
    tenant_id TEXT PRIMARY KEY,
    mode TEXT NOT NULL,
    set_by TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    proof BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE agent_platform (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    audit_seq INTEGER NOT NULL DEFAULT 0,
    audit_digest BLOB NOT NULL DEFAULT x''
);
CREATE TABLE "agent_audit_events" (
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
CREATE TABLE llm_profiles (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    purpose TEXT NOT NULL,
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    profile TEXT NOT NULL,
    created_by TEXT NOT NULL,
    activated_at INTEGER NOT NULL,
    deactivated_at INTEGER
);
CREATE TABLE llm_profile_changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    action TEXT NOT NULL,
    version INTEGER NOT NULL,
    purpose TEXT NOT NULL,
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    by_id TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE TABLE llm_rate_state (
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    purpose TEXT NOT NULL,
    calls REAL NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (org_id, domain_id, purpose)
) WITHOUT ROWID;
CREATE TABLE llm_budget_state (
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    purpose TEXT NOT NULL,
    date TEXT NOT NULL,
    spent INTEGER NOT NULL DEFAULT 0,
    held INTEGER NOT NULL DEFAULT 0,
    warned INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, domain_id, purpose, date)
) WITHOUT ROWID;
CREATE TABLE llm_usage (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    date TEXT NOT NULL,
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    bc TEXT NOT NULL,
    purpose TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    profile_version INTEGER NOT NULL,
    run_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    held INTEGER,
    expires_at INTEGER NOT NULL,
    outcome TEXT,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost INTEGER,
    took_ms INTEGER NOT NULL DEFAULT 0
, circuit TEXT NOT NULL DEFAULT '', failed INTEGER);
CREATE TABLE llm_usage_daily (
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    bc TEXT NOT NULL,
    purpose TEXT NOT NULL,
    model TEXT NOT NULL,
    date TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_estimate INTEGER NOT NULL,
    call_count INTEGER NOT NULL,
    PRIMARY KEY (org_id, domain_id, bc, purpose, model, date)
) WITHOUT ROWID;
CREATE TABLE llm_circuits (
    name TEXT PRIMARY KEY,
    until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE llm_credentials (
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    data_key BLOB NOT NULL,
    contents BLOB NOT NULL,
    holder TEXT NOT NULL DEFAULT '',
    held_until INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, domain_id, name)
) WITHOUT ROWID;
CREATE TABLE llm_retry_state (
    org_id TEXT PRIMARY KEY,
    tenths INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE agent_manifests (
    agent_name TEXT NOT NULL,
    digest BLOB NOT NULL,
    contents BLOB NOT NULL,
    first_seen_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (agent_name, digest)
) WITHOUT ROWID;
CREATE TABLE agent_subscriptions (
    subscriber TEXT PRIMARY KEY,
    notification TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE agent_notifications (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    key TEXT,
    published_by TEXT,
    contents BLOB NOT NULL,
    data_key BLOB NOT NULL,
    published_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE agent_letters (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    notification TEXT NOT NULL REFERENCES agent_notifications(id),
    subscriber TEXT NOT NULL,
    tenant_id TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER,
    died_at INTEGER,
    failure TEXT,
    failures BLOB NOT NULL DEFAULT x'',
    replays INTEGER NOT NULL DEFAULT 0,
    UNIQUE (notification, subscriber)
);
CREATE TABLE agent_triages (
    tenant_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    status TEXT NOT NULL,
    set_by TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    notes BLOB NOT NULL,
    PRIMARY KEY (tenant_id, cluster)
) WITHOUT ROWID;
CREATE UNIQUE INDEX idx_agent_runs_key ON agent_runs(tenant_id, agent_name, key) WHERE key IS NOT NULL;
CREATE INDEX idx_agent_runs_ready ON agent_runs(status, priority DESC, updated_at);
CREATE INDEX idx_agent_runs_tenant ON agent_runs(tenant_id, created_at DESC);
CREATE INDEX idx_agent_approvals_pending ON agent_approvals(tenant_id, number) WHERE status = 'pending';
CREATE INDEX idx_agent_approvals_expiry ON agent_approvals(expires_at) WHERE status = 'pending';
CREATE INDEX idx_tool_executions_tenant ON agent_tool_executions(tenant_id, executed_at DESC);
CREATE INDEX idx_tool_executions_tool ON agent_tool_executions(tool_name, executed_at DESC);
CREATE INDEX idx_agent_approvals_unused ON agent_approvals(use_by) WHERE status = 'approved';
CREATE INDEX idx_agent_runs_contents ON agent_runs(updated_at) WHERE status = 'done' AND length(data_key) > 0;
CREATE INDEX idx_tool_executions_doubts ON agent_tool_executions(executed_at, id)
    WHERE effect_unknown AND had_effect IS NULL;
CREATE INDEX idx_agent_deliveries_due ON agent_deliveries(webhook, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX idx_agent_conversations_run ON agent_conversations(run_id) WHERE run_id IS NOT NULL;
CREATE INDEX idx_agent_runs_conversation ON agent_runs(tenant_id, conversation) WHERE conversation IS NOT NULL;
CREATE INDEX idx_agent_runs_open ON agent_runs(tenant_id, conversation)
    WHERE conversation IS NOT NULL AND status <> 'done';
CREATE INDEX idx_agent_run_texts_expiry ON agent_run_texts(expires_at);
CREATE UNIQUE INDEX idx_agent_runs_number ON agent_runs(number);
CREATE INDEX idx_tool_executions_run ON agent_tool_executions(run);
CREATE INDEX idx_agent_audit_events_tenant ON agent_audit_events(tenant_id, number);
CREATE UNIQUE INDEX idx_llm_profiles_active ON llm_profiles(purpose, org_id, domain_id) WHERE deactivated_at IS NULL;
CREATE INDEX idx_llm_usage_holds ON llm_usage(org_id, domain_id, purpose, expires_at) WHERE outcome IS NULL;
CREATE INDEX idx_llm_usage_org ON llm_usage(org_id, date);
CREATE INDEX idx_llm_usage_run ON llm_usage(run_id);
CREATE INDEX idx_llm_usage_circuit ON llm_usage(circuit, number) WHERE failed IS NOT NULL;
CREATE UNIQUE INDEX idx_agent_notifications_key ON agent_notifications(tenant_id, name, key) WHERE key IS NOT NULL;
CREATE INDEX idx_agent_notifications_name ON agent_notifications(name) WHERE length(data_key) > 0;
CREATE INDEX idx_agent_letters_due ON agent_letters(subscriber, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX idx_agent_letters_dead ON agent_letters(tenant_id, number) WHERE died_at IS NOT NULL;
INSERT INTO refinery_schema_history VALUES(1,'runs','2026-11-29T01:53:16.372140282Z','8698070480308702239');
INSERT INTO refinery_schema_history VALUES(2,'audit','2026-11-29T01:53:16.372179218Z','4799138724312172859');
INSERT INTO refinery_schema_history VALUES(3,'operations','2026-11-29T01:53:16.372182693Z','1446293315876302306');
INSERT INTO refinery_schema_history VALUES(4,'conversations','2026-11-29T01:53:16.372184616Z','14975136984714867118');
INSERT INTO refinery_schema_history VALUES(6,'numbers','2026-11-29T01:53:16.372186919Z','10085126745983773326');
INSERT INTO refinery_schema_history VALUES(7,'modes','2026-11-29T01:53:16.372189256Z','4589244448184858499');
INSERT INTO refinery_schema_history VALUES(8,'held','2026-11-29T01:53:16.372191036Z','1058182534610438917');
INSERT INTO refinery_schema_history VALUES(20,'control','2026-11-29T01:53:16.37219276Z','1959067556268316623');
INSERT INTO refinery_schema_history VALUES(21,'circuits','2026-11-29T01:53:16.372195152Z','6703743496957384163');
INSERT INTO refinery_schema_history VALUES(22,'credentials','2026-11-29T01:53:16.372196813Z','1748323999388044144');
INSERT INTO refinery_schema_history VALUES(23,'retries','2026-11-29T01:53:16.372198963Z','6341984271329130372');
INSERT INTO refinery_schema_history VALUES(24,'manifests','2026-11-29T01:53:16.372201116Z','8014908834553140969');
INSERT INTO refinery_schema_history VALUES(25,'letters','2026-11-29T01:53:16.37220274Z','6260112453990983988');
