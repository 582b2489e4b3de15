-- Profiles: which model answers for a purpose. The empty organisation stands for all, the empty workspace for the
-- organisation itself. A profile is never changed; one at a time is active in its tier.
CREATE TABLE llm_profiles (
    version BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    purpose TEXT NOT NULL,
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    profile TEXT NOT NULL,
    created_by TEXT NOT NULL,
    activated_at BIGINT NOT NULL,
    deactivated_at BIGINT
);
CREATE UNIQUE INDEX idx_llm_profiles_active ON llm_profiles(purpose, org_id, domain_id) WHERE deactivated_at IS NULL;

-- What was done with profiles, and by whom.
CREATE TABLE llm_profile_changes (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    action TEXT NOT NULL,
    version BIGINT NOT NULL,
    purpose TEXT NOT NULL,
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    by_id TEXT NOT NULL,
    detail TEXT NOT NULL
);

-- Calls that a bucket holds, as of a time.
CREATE TABLE llm_rate_state (
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    purpose TEXT NOT NULL,
    calls DOUBLE PRECISION NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (org_id, domain_id, purpose)
);

-- Sums of a day, in billionths of a dollar. They can be made anew from the log and the holds.
CREATE TABLE llm_budget_state (
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    purpose TEXT NOT NULL,
    date TEXT NOT NULL,
    spent BIGINT NOT NULL DEFAULT 0,
    held BIGINT NOT NULL DEFAULT 0,
    warned BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, domain_id, purpose, date)
);

-- The log: one row for each request to a model. A row without an outcome is a hold.
CREATE TABLE llm_usage (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at BIGINT NOT NULL,
    date TEXT NOT NULL,
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    bc TEXT NOT NULL,
    purpose TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    profile_version BIGINT NOT NULL,
    run_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    held BIGINT,
    expires_at BIGINT NOT NULL,
    outcome TEXT,
    input_tokens BIGINT NOT NULL DEFAULT 0,
    cached_tokens BIGINT NOT NULL DEFAULT 0,
    cache_write_tokens BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    cost BIGINT,
    took_ms BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX idx_llm_usage_holds ON llm_usage(org_id, domain_id, purpose, expires_at) WHERE outcome IS NULL;
CREATE INDEX idx_llm_usage_org ON llm_usage(org_id, date);
CREATE INDEX idx_llm_usage_run ON llm_usage(run_id);

CREATE TABLE llm_usage_daily (
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    bc TEXT NOT NULL,
    purpose TEXT NOT NULL,
    model TEXT NOT NULL,
    date TEXT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_estimate BIGINT NOT NULL,
    call_count BIGINT NOT NULL,
    PRIMARY KEY (org_id, domain_id, bc, purpose, model, date)
);

-- A tenant has its own rows, and the profiles of all. What other tenants may do is the owner's alone.
ALTER TABLE llm_profiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_profile_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_rate_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_budget_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE llm_usage_daily ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON llm_profiles FOR SELECT
    USING (org_id = '' OR org_id = nullif(current_setting('agents.tenant', true), ''));
CREATE POLICY agents_tenant ON llm_profile_changes FOR SELECT
    USING (org_id = nullif(current_setting('agents.tenant', true), ''));
CREATE POLICY agents_tenant ON llm_budget_state FOR SELECT
    USING (org_id = nullif(current_setting('agents.tenant', true), ''));
CREATE POLICY agents_tenant ON llm_usage FOR SELECT
    USING (org_id = nullif(current_setting('agents.tenant', true), ''));
CREATE POLICY agents_tenant ON llm_usage_daily FOR SELECT
    USING (org_id = nullif(current_setting('agents.tenant', true), ''));
