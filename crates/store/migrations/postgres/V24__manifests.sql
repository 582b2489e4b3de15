-- Manifests: what workers say of their agents. An agent has one row for each manifest that differs. Agents belong to no
-- tenant, so every role that may read the table sees all of them.
CREATE TABLE agent_manifests (
    agent_name TEXT NOT NULL,
    digest BYTEA NOT NULL,
    contents BYTEA NOT NULL,
    first_seen_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (agent_name, digest)
);
ALTER TABLE agent_manifests ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_all ON agent_manifests FOR SELECT USING (true);
