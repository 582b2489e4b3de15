-- Names of the notifications that each subscriber takes.
CREATE TABLE agent_subscriptions (
    subscriber TEXT PRIMARY KEY,
    notification TEXT NOT NULL
) WITHOUT ROWID;

-- Notifications that one context publishes for others. One with a key stays when all have taken it, without its contents.
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
CREATE UNIQUE INDEX idx_agent_notifications_key ON agent_notifications(tenant_id, name, key) WHERE key IS NOT NULL;
CREATE INDEX idx_agent_notifications_name ON agent_notifications(name) WHERE length(data_key) > 0;

-- Letters: notifications on their way to a subscriber. Without a time for the next try, a letter is dead.
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
CREATE INDEX idx_agent_letters_due ON agent_letters(subscriber, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX idx_agent_letters_dead ON agent_letters(tenant_id, number) WHERE died_at IS NOT NULL;

-- What people have said of clusters of failures.
CREATE TABLE agent_triages (
    tenant_id TEXT NOT NULL,
    cluster TEXT NOT NULL,
    status TEXT NOT NULL,
    set_by TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    notes BLOB NOT NULL,
    PRIMARY KEY (tenant_id, cluster)
) WITHOUT ROWID;
