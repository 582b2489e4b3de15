CREATE TABLE agent_approvals (
    number bigint NOT NULL,
    id text NOT NULL,
    run_id text NOT NULL,
    request text NOT NULL,
    place text NOT NULL,
    correlation_id text NOT NULL,
    tenant_id text NOT NULL,
    user_id text,
    started_by text,
    agent_name text NOT NULL,
    tool_name text NOT NULL,
    version text NOT NULL,
    args_summary text NOT NULL,
    effect_description text NOT NULL,
    risk_level text NOT NULL,
    args_digest text NOT NULL,
    requested_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    status text NOT NULL,
    detail bytea NOT NULL,
    decided_by text,
    decided_at bigint,
    note text,
    edited bytea,
    edited_digest text,
    use_by bigint,
    proof bytea,
    reasons text
);
ALTER TABLE agent_approvals ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME agent_approvals_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE agent_audit_events (
    number bigint NOT NULL,
    seq bigint NOT NULL,
    tenant_id text NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    actor text,
    subject text,
    tool_name text,
    detail bytea,
    row_digest bytea,
    digest bytea NOT NULL,
    run bigint NOT NULL
);
ALTER TABLE agent_audit_events ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME agent_audit_events_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE agent_audit_key (
    one boolean DEFAULT true NOT NULL,
    id text NOT NULL,
    CONSTRAINT agent_audit_key_one_check CHECK (one)
);
CREATE TABLE agent_conversations (
    tenant_id text NOT NULL,
    id text NOT NULL,
    agent_name text NOT NULL,
    run_id text,
    contents bytea,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE TABLE agent_deliveries (
    webhook text NOT NULL,
    event bigint NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    next_at bigint,
    error text
);
CREATE TABLE agent_letters (
    number bigint NOT NULL,
    notification text NOT NULL,
    subscriber text NOT NULL,
    tenant_id text NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    next_at bigint,
    died_at bigint,
    failure text,
    failures bytea DEFAULT '\x'::bytea NOT NULL,
    replays bigint DEFAULT 0 NOT NULL
);
ALTER TABLE agent_letters ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME agent_letters_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE agent_manifests (
    agent_name text NOT NULL,
    digest bytea NOT NULL,
    contents bytea NOT NULL,
    first_seen_at bigint NOT NULL,
    seen_at bigint NOT NULL
);
CREATE TABLE agent_modes (
    tenant_id text NOT NULL,
    mode text NOT NULL,
    set_by text NOT NULL,
    set_at bigint NOT NULL,
    seq bigint NOT NULL,
    proof bytea NOT NULL
);
CREATE TABLE agent_notifications (
    id text NOT NULL,
    tenant_id text NOT NULL,
    name text NOT NULL,
    key text,
    published_by text,
    contents bytea NOT NULL,
    data_key bytea NOT NULL,
    published_at bigint NOT NULL
);
CREATE TABLE agent_platform (
    one boolean DEFAULT true NOT NULL,
    audit_seq bigint DEFAULT 0 NOT NULL,
    audit_digest bytea DEFAULT '\x'::bytea NOT NULL,
    CONSTRAINT agent_platform_one_check CHECK (one)
);
CREATE TABLE agent_run_commits (
    last_seq bigint NOT NULL,
    after_seq bigint NOT NULL,
    entries bytea NOT NULL,
    committed_at bigint NOT NULL,
    run bigint NOT NULL
);
CREATE TABLE agent_run_texts (
    run_id text NOT NULL,
    number bigint NOT NULL,
    contents bytea NOT NULL,
    expires_at bigint NOT NULL
);
CREATE TABLE agent_runs (
    number bigint NOT NULL,
    id text NOT NULL,
    tenant_id text NOT NULL,
    key text,
    agent_name text NOT NULL,
    started_by text,
    priority integer NOT NULL,
    data bytea NOT NULL,
    data_key bytea NOT NULL,
    status text NOT NULL,
    wake_at bigint,
    lease_owner text,
    lease_until bigint,
    fence bigint DEFAULT 0 NOT NULL,
    claims bigint DEFAULT 0 NOT NULL,
    messages bigint DEFAULT 0 NOT NULL,
    ended text,
    held text,
    cancelled_by text,
    last_seq bigint DEFAULT 0 NOT NULL,
    last_commit text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    audit_seq bigint DEFAULT 0 NOT NULL,
    audit_digest bytea DEFAULT '\x'::bytea NOT NULL,
    labels jsonb DEFAULT '{}'::jsonb NOT NULL,
    paused_by text,
    conversation text,
    advanced_at bigint,
    held_kind text,
    held_by text
)
WITH (fillfactor='80');
ALTER TABLE agent_runs ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME agent_runs_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE agent_schema_history (
    version integer NOT NULL,
    name character varying(255),
    applied_on character varying(255),
    checksum character varying(255)
);
CREATE TABLE agent_subscriptions (
    subscriber text NOT NULL,
    notification text NOT NULL
);
CREATE TABLE agent_tool_executions (
    id text NOT NULL,
    tenant_id text NOT NULL,
    run_id text NOT NULL,
    call_id text NOT NULL,
    attempt bigint NOT NULL,
    agent_name text NOT NULL,
    tool_name text NOT NULL,
    version text NOT NULL,
    input bytea NOT NULL,
    output bytea,
    approved boolean DEFAULT false NOT NULL,
    approved_by text,
    risk_level text NOT NULL,
    executed_at bigint NOT NULL,
    duration_ms bigint,
    error text,
    effect_unknown boolean DEFAULT false NOT NULL,
    rolled_back boolean DEFAULT false NOT NULL,
    rolled_back_at bigint,
    had_effect boolean,
    settled_by text,
    settled_at bigint,
    settled_proof bytea,
    run bigint
);
CREATE TABLE agent_triages (
    tenant_id text NOT NULL,
    cluster text NOT NULL,
    status text NOT NULL,
    set_by text NOT NULL,
    set_at bigint NOT NULL,
    notes bytea NOT NULL
);
CREATE TABLE agent_webhooks (
    name text NOT NULL,
    seen bigint NOT NULL
);
CREATE TABLE llm_budget_state (
    org_id text NOT NULL,
    domain_id text NOT NULL,
    purpose text NOT NULL,
    date text NOT NULL,
    spent bigint DEFAULT 0 NOT NULL,
    held bigint DEFAULT 0 NOT NULL,
    warned bigint DEFAULT 0 NOT NULL
);
CREATE TABLE llm_circuits (
    name text NOT NULL,
    until bigint NOT NULL
);
CREATE TABLE llm_credentials (
    org_id text NOT NULL,
    domain_id text NOT NULL,
    name text NOT NULL,
    version text NOT NULL,
    data_key bytea NOT NULL,
    contents bytea NOT NULL,
    holder text DEFAULT ''::text NOT NULL,
    held_until bigint DEFAULT 0 NOT NULL
);
CREATE TABLE llm_profile_changes (
    number bigint NOT NULL,
    at bigint NOT NULL,
    action text NOT NULL,
    version bigint NOT NULL,
    purpose text NOT NULL,
    org_id text NOT NULL,
    domain_id text NOT NULL,
    by_id text NOT NULL,
    detail text NOT NULL
);
ALTER TABLE llm_profile_changes ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME llm_profile_changes_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE llm_profiles (
    version bigint NOT NULL,
    purpose text NOT NULL,
    org_id text NOT NULL,
    domain_id text NOT NULL,
    profile text NOT NULL,
    created_by text NOT NULL,
    activated_at bigint NOT NULL,
    deactivated_at bigint
);
ALTER TABLE llm_profiles ALTER COLUMN version ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME llm_profiles_version_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE llm_rate_state (
    org_id text NOT NULL,
    domain_id text NOT NULL,
    purpose text NOT NULL,
    calls double precision NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE llm_retry_state (
    org_id text NOT NULL,
    tenths bigint NOT NULL
);
CREATE TABLE llm_usage (
    number bigint NOT NULL,
    id text NOT NULL,
    at bigint NOT NULL,
    date text NOT NULL,
    org_id text NOT NULL,
    domain_id text NOT NULL,
    bc text NOT NULL,
    purpose text NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    profile_version bigint NOT NULL,
    run_id text NOT NULL,
    turn_id text NOT NULL,
    held bigint,
    expires_at bigint NOT NULL,
    outcome text,
    input_tokens bigint DEFAULT 0 NOT NULL,
    cached_tokens bigint DEFAULT 0 NOT NULL,
    cache_write_tokens bigint DEFAULT 0 NOT NULL,
    output_tokens bigint DEFAULT 0 NOT NULL,
    cost bigint,
    took_ms bigint DEFAULT 0 NOT NULL,
    circuit text DEFAULT ''::text NOT NULL,
    failed boolean
);
CREATE TABLE llm_usage_daily (
    org_id text NOT NULL,
    domain_id text NOT NULL,
    bc text NOT NULL,
    purpose text NOT NULL,
    model text NOT NULL,
    date text NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost_estimate bigint NOT NULL,
    call_count bigint NOT NULL
);
ALTER TABLE llm_usage ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME llm_usage_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE ONLY agent_approvals
    ADD CONSTRAINT agent_approvals_id_key UNIQUE (id);
ALTER TABLE ONLY agent_approvals
    ADD CONSTRAINT agent_approvals_pkey PRIMARY KEY (number);
ALTER TABLE ONLY agent_approvals
    ADD CONSTRAINT agent_approvals_run_id_request_key UNIQUE (run_id, request);
ALTER TABLE ONLY agent_audit_events
    ADD CONSTRAINT agent_audit_events_pkey PRIMARY KEY (number);
ALTER TABLE ONLY agent_audit_events
    ADD CONSTRAINT agent_audit_events_run_seq_key UNIQUE (run, seq);
ALTER TABLE ONLY agent_audit_key
    ADD CONSTRAINT agent_audit_key_pkey PRIMARY KEY (one);
ALTER TABLE ONLY agent_conversations
    ADD CONSTRAINT agent_conversations_pkey PRIMARY KEY (tenant_id, id);
ALTER TABLE ONLY agent_deliveries
    ADD CONSTRAINT agent_deliveries_pkey PRIMARY KEY (webhook, event);
ALTER TABLE ONLY agent_letters
    ADD CONSTRAINT agent_letters_notification_subscriber_key UNIQUE (notification, subscriber);
ALTER TABLE ONLY agent_letters
    ADD CONSTRAINT agent_letters_pkey PRIMARY KEY (number);
ALTER TABLE ONLY agent_manifests
    ADD CONSTRAINT agent_manifests_pkey PRIMARY KEY (agent_name, digest);
ALTER TABLE ONLY agent_modes
    ADD CONSTRAINT agent_modes_pkey PRIMARY KEY (tenant_id);
ALTER TABLE ONLY agent_notifications
    ADD CONSTRAINT agent_notifications_pkey PRIMARY KEY (id);
ALTER TABLE ONLY agent_platform
    ADD CONSTRAINT agent_platform_pkey PRIMARY KEY (one);
ALTER TABLE ONLY agent_run_commits
    ADD CONSTRAINT agent_run_commits_pkey PRIMARY KEY (run, last_seq);
ALTER TABLE ONLY agent_run_texts
    ADD CONSTRAINT agent_run_texts_pkey PRIMARY KEY (run_id, number);
ALTER TABLE ONLY agent_runs
    ADD CONSTRAINT agent_runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY agent_schema_history
    ADD CONSTRAINT agent_schema_history_pkey PRIMARY KEY (version);
ALTER TABLE ONLY agent_subscriptions
    ADD CONSTRAINT agent_subscriptions_pkey PRIMARY KEY (subscriber);
ALTER TABLE ONLY agent_tool_executions
    ADD CONSTRAINT agent_tool_executions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY agent_triages
    ADD CONSTRAINT agent_triages_pkey PRIMARY KEY (tenant_id, cluster);
ALTER TABLE ONLY agent_webhooks
    ADD CONSTRAINT agent_webhooks_pkey PRIMARY KEY (name);
ALTER TABLE ONLY llm_budget_state
    ADD CONSTRAINT llm_budget_state_pkey PRIMARY KEY (org_id, domain_id, purpose, date);
ALTER TABLE ONLY llm_circuits
    ADD CONSTRAINT llm_circuits_pkey PRIMARY KEY (name);
ALTER TABLE ONLY llm_credentials
    ADD CONSTRAINT llm_credentials_pkey PRIMARY KEY (org_id, domain_id, name);
ALTER TABLE ONLY llm_profile_changes
    ADD CONSTRAINT llm_profile_changes_pkey PRIMARY KEY (number);
ALTER TABLE ONLY llm_profiles
    ADD CONSTRAINT llm_profiles_pkey PRIMARY KEY (version);
ALTER TABLE ONLY llm_rate_state
    ADD CONSTRAINT llm_rate_state_pkey PRIMARY KEY (org_id, domain_id, purpose);
ALTER TABLE ONLY llm_retry_state
    ADD CONSTRAINT llm_retry_state_pkey PRIMARY KEY (org_id);
ALTER TABLE ONLY llm_usage_daily
    ADD CONSTRAINT llm_usage_daily_pkey PRIMARY KEY (org_id, domain_id, bc, purpose, model, date);
ALTER TABLE ONLY llm_usage
    ADD CONSTRAINT llm_usage_id_key UNIQUE (id);
ALTER TABLE ONLY llm_usage
    ADD CONSTRAINT llm_usage_pkey PRIMARY KEY (number);
CREATE INDEX idx_agent_approvals_expiry ON agent_approvals USING btree (expires_at) WHERE (status = 'pending'::text);
CREATE INDEX idx_agent_approvals_pending ON agent_approvals USING btree (tenant_id, number) WHERE (status = 'pending'::text);
CREATE INDEX idx_agent_approvals_unused ON agent_approvals USING btree (use_by) WHERE (status = 'approved'::text);
CREATE INDEX idx_agent_audit_events_tenant ON agent_audit_events USING btree (tenant_id, number);
CREATE INDEX idx_agent_conversations_run ON agent_conversations USING btree (run_id) WHERE (run_id IS NOT NULL);
CREATE INDEX idx_agent_deliveries_due ON agent_deliveries USING btree (webhook, next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX idx_agent_letters_dead ON agent_letters USING btree (tenant_id, number) WHERE (died_at IS NOT NULL);
CREATE INDEX idx_agent_letters_due ON agent_letters USING btree (subscriber, next_at) WHERE (next_at IS NOT NULL);
CREATE UNIQUE INDEX idx_agent_notifications_key ON agent_notifications USING btree (tenant_id, name, key) WHERE (key IS NOT NULL);
CREATE INDEX idx_agent_notifications_name ON agent_notifications USING btree (name) WHERE (length(data_key) > 0);
CREATE INDEX idx_agent_run_texts_expiry ON agent_run_texts USING btree (expires_at);
CREATE INDEX idx_agent_runs_contents ON agent_runs USING btree (updated_at) WHERE ((status = 'done'::text) AND (length(data_key) > 0));
CREATE INDEX idx_agent_runs_conversation ON agent_runs USING btree (tenant_id, conversation, number) WHERE (conversation IS NOT NULL);
CREATE UNIQUE INDEX idx_agent_runs_key ON agent_runs USING btree (tenant_id, agent_name, key) WHERE (key IS NOT NULL);
CREATE INDEX idx_agent_runs_labels ON agent_runs USING gin (labels jsonb_path_ops) WHERE (labels <> '{}'::jsonb);
CREATE UNIQUE INDEX idx_agent_runs_number ON agent_runs USING btree (number);
CREATE INDEX idx_agent_runs_open ON agent_runs USING btree (tenant_id, conversation, number) WHERE ((conversation IS NOT NULL) AND (status <> 'done'::text));
CREATE INDEX idx_agent_runs_ready ON agent_runs USING btree (priority DESC, updated_at, number) WHERE (status = 'ready'::text);
CREATE INDEX idx_agent_runs_running ON agent_runs USING btree (tenant_id) WHERE (status = 'running'::text);
CREATE INDEX idx_agent_runs_tenant ON agent_runs USING btree (tenant_id, number);
CREATE INDEX idx_agent_runs_unfinished ON agent_runs USING btree (status) WHERE (status <> 'done'::text);
CREATE INDEX idx_agent_runs_wake ON agent_runs USING btree (wake_at) WHERE ((status = 'waiting'::text) AND (wake_at IS NOT NULL));
CREATE UNIQUE INDEX idx_llm_profiles_active ON llm_profiles USING btree (purpose, org_id, domain_id) WHERE (deactivated_at IS NULL);
CREATE INDEX idx_llm_usage_circuit ON llm_usage USING btree (circuit, number) WHERE (failed IS NOT NULL);
CREATE INDEX idx_llm_usage_holds ON llm_usage USING btree (org_id, domain_id, purpose, expires_at) WHERE (outcome IS NULL);
CREATE INDEX idx_llm_usage_org ON llm_usage USING btree (org_id, date);
CREATE INDEX idx_llm_usage_run ON llm_usage USING btree (run_id);
CREATE INDEX idx_tool_executions_doubts ON agent_tool_executions USING btree (executed_at, id) WHERE (effect_unknown AND (had_effect IS NULL));
CREATE INDEX idx_tool_executions_run ON agent_tool_executions USING btree (run);
CREATE INDEX idx_tool_executions_tenant ON agent_tool_executions USING btree (tenant_id, executed_at DESC);
CREATE INDEX idx_tool_executions_tool ON agent_tool_executions USING btree (tool_name, executed_at DESC);
ALTER TABLE ONLY agent_approvals
    ADD CONSTRAINT agent_approvals_run_id_fkey FOREIGN KEY (run_id) REFERENCES agent_runs(id);
ALTER TABLE ONLY agent_conversations
    ADD CONSTRAINT agent_conversations_run_id_fkey FOREIGN KEY (run_id) REFERENCES agent_runs(id);
ALTER TABLE ONLY agent_letters
    ADD CONSTRAINT agent_letters_notification_fkey FOREIGN KEY (notification) REFERENCES agent_notifications(id);
ALTER TABLE ONLY agent_run_commits
    ADD CONSTRAINT agent_run_commits_run_fkey FOREIGN KEY (run) REFERENCES agent_runs(number);
ALTER TABLE ONLY agent_run_texts
    ADD CONSTRAINT agent_run_texts_run_id_fkey FOREIGN KEY (run_id) REFERENCES agent_runs(id);
ALTER TABLE ONLY agent_tool_executions
    ADD CONSTRAINT agent_tool_executions_run_fkey FOREIGN KEY (run) REFERENCES agent_runs(number);
ALTER TABLE ONLY agent_tool_executions
    ADD CONSTRAINT agent_tool_executions_run_id_fkey FOREIGN KEY (run_id) REFERENCES agent_runs(id);
ALTER TABLE agent_approvals ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_audit_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_conversations ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_letters ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_manifests ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_modes ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_notifications ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_platform ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_run_commits ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_run_texts ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_tool_executions ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_triages ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_webhooks ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_all ON agent_manifests FOR SELECT USING (true);
CREATE POLICY agents_tenant ON agent_approvals USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON agent_audit_events USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON agent_conversations USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON agent_letters USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON agent_modes FOR SELECT USING (((tenant_id = '*'::text) OR (tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text))));
CREATE POLICY agents_tenant ON agent_notifications USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON agent_run_commits USING ((EXISTS ( SELECT 1
   FROM agent_runs
  WHERE ((agent_runs.number = agent_run_commits.run) AND (agent_runs.tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text))))));
CREATE POLICY agents_tenant ON agent_run_texts USING ((EXISTS ( SELECT 1
   FROM agent_runs
  WHERE ((agent_runs.id = agent_run_texts.run_id) AND (agent_runs.tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text))))));
CREATE POLICY agents_tenant ON agent_runs USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON agent_tool_executions USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON agent_triages USING ((tenant_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON llm_budget_state FOR SELECT USING ((org_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON llm_profile_changes FOR SELECT USING ((org_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON llm_profiles FOR SELECT USING (((org_id = ''::text) OR (org_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text))));
CREATE POLICY agents_tenant ON llm_usage FOR SELECT USING ((org_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
CREATE POLICY agents_tenant ON llm_usage_daily FOR SELECT USING ((org_id = NULLIF(current_setting('agents.tenant'::text, true), ''::text)));
ALTER TABLE llm_budget_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_circuits ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_credentials ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_profile_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_profiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_rate_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_retry_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_usage_daily ENABLE ROW LEVEL SECURITY;
INSERT INTO agent_schema_history VALUES (1, 'runs', '2026-11-29T02:04:03.112379291Z', '7284393631275480126');
INSERT INTO agent_schema_history VALUES (2, 'audit', '2026-11-29T02:04:03.112395587Z', '10624551122759015744');
INSERT INTO agent_schema_history VALUES (3, 'operations', '2026-11-29T02:04:03.1123978Z', '10953908719076536487');
INSERT INTO agent_schema_history VALUES (4, 'conversations', '2026-11-29T02:04:03.112403623Z', '17694727449946551309');
INSERT INTO agent_schema_history VALUES (6, 'numbers', '2026-11-29T02:04:03.112406404Z', '6683338735095622299');
INSERT INTO agent_schema_history VALUES (7, 'modes', '2026-11-29T02:04:03.112408688Z', '9350706640976724984');
INSERT INTO agent_schema_history VALUES (8, 'held', '2026-11-29T02:04:03.112411302Z', '1058182534610438917');
INSERT INTO agent_schema_history VALUES (20, 'control', '2026-11-29T02:04:03.11241286Z', '15376302177367036599');
INSERT INTO agent_schema_history VALUES (21, 'circuits', '2026-11-29T02:04:03.112416345Z', '16093655065409948436');
INSERT INTO agent_schema_history VALUES (22, 'credentials', '2026-11-29T02:04:03.112418153Z', '10445704227950343529');
INSERT INTO agent_schema_history VALUES (23, 'retries', '2026-11-29T02:04:03.112427414Z', '4381695805708379372');
INSERT INTO agent_schema_history VALUES (24, 'manifests', '2026-11-29T02:04:03.112430192Z', '851062653169657054');
INSERT INTO agent_schema_history VALUES (25, 'letters', '2026-11-29T02:04:03.112431598Z', '5338183518646528697');
