-- Names of the notifications that each subscriber takes.
CREATE TABLE agent_subscriptions (
    subscriber TEXT PRIMARY KEY,
    notification TEXT NOT NULL
);

-- Notifications that one context publishes for others. One with a key stays when all have taken it, without its contents.
CREATE TABLE agent_notifications (
    id TEXT PRIMARY KEY,
    tenant_id TEXT NOT NULL,
    name TEXT NOT NULL,
    key TEXT,
    published_by TEXT,
    contents BYTEA NOT NULL,
    data_key BYTEA NOT NULL,
    published_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX idx_agent_notifications_key ON agent_notifications(tenant_id, name, key) WHERE key IS NOT NULL;
CREATE INDEX idx_agent_notifications_name ON agent_notifications(name) WHERE length(data_key) > 0;
ALTER TABLE agent_notifications ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON agent_notifications
    USING (tenant_id = nullif(current_setting('agents.tenant', true), ''));

-- Letters: notifications on their way to a subscriber. Without a time for the next try, a letter is dead.
CREATE TABLE agent_letters (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    notification TEXT NOT NULL REFERENCES agent_notifications(id),
    subscriber TEXT NOT NULL,
    tenant_id TEXT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    fence BIGINT NOT NULL DEFAULT 0,
    next_at BIGINT,
    died_at BIGINT,
    failure TEXT,
    failures BYTEA NOT NULL DEFAULT '',
    replays BIGINT NOT NULL DEFAULT 0,
    UNIQUE (notification, subscriber)
);
CREATE INDEX idx_agent_letters_due ON agent_letters(subscriber, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX idx_agent_letters_dead ON agent_letters(tenant_id, number) WHERE died_at IS NOT NULL;
ALTER TABLE agent_letters ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON agent_letters
    USING (tenant_id = nullif(current_setting('agents.tenant', true), ''));

-- What people have said of clusters of failures.
CREATE TABLE agent_triages (
    tenant_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    status TEXT NOT NULL,
    set_by TEXT NOT NULL,
    set_at BIGINT NOT NULL,
    notes BYTEA NOT NULL,
    PRIMARY KEY (tenant_id, cluster)
);
ALTER TABLE agent_triages ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON agent_triages
    USING (tenant_id = nullif(current_setting('agents.tenant', true), ''));
