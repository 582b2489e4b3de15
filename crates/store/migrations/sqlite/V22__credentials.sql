-- Credentials of organisations and of workspaces, encrypted. The empty organisation is the platform, the empty workspace the
-- organisation itself. `version` changes with each change of the contents. Until `held_until`, only `holder` may get the next
-- token of a bundle.
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
