-- Profiles: which model answers for a purpose. The empty organisation stands for all, the empty workspace for the
-- organisation itself. A profile is never changed; one at a time is active in its tier.
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
CREATE UNIQUE INDEX idx_llm_profiles_active ON llm_profiles(purpose, org_id, domain_id) WHERE deactivated_at IS NULL;

-- What was done with profiles, and by whom.
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

-- Calls that a bucket holds, as of a time.
CREATE TABLE llm_rate_state (
    org_id TEXT NOT NULL,
    domain_id TEXT NOT NULL,
    purpose TEXT NOT NULL,
    calls REAL NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (org_id, domain_id, purpose)
) WITHOUT ROWID;

-- Sums of a day, in billionths of a dollar. They can be made anew from the log and the holds.
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

-- The log: one row for each request to a model. A row without an outcome is a hold.
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
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_estimate INTEGER NOT NULL,
    call_count INTEGER NOT NULL,
    PRIMARY KEY (org_id, domain_id, bc, purpose, model, date)
) WITHOUT ROWID;
