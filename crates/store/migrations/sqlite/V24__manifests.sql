-- Manifests: what workers say of their agents. An agent has one row for each manifest that differs.
CREATE TABLE agent_manifests (
    agent_name TEXT NOT NULL,
    digest BLOB NOT NULL,
    contents BLOB NOT NULL,
    first_seen_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (agent_name, digest)
) WITHOUT ROWID;
