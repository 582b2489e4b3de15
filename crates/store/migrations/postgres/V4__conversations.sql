-- Conversations: runs that begin with what was said before. They are worked on one after the other.
CREATE TABLE agent_conversations (
    tenant_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    -- The run that left the contents. They are encrypted with its key.
    run_id TEXT REFERENCES agent_runs(id),
    contents BYTEA,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX idx_agent_conversations_run ON agent_conversations(run_id) WHERE run_id IS NOT NULL;
ALTER TABLE agent_conversations ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON agent_conversations
    USING (tenant_id = nullif(current_setting('agents.tenant', true), ''));

ALTER TABLE agent_runs ADD COLUMN conversation TEXT;
CREATE INDEX idx_agent_runs_conversation ON agent_runs(tenant_id, conversation, number) WHERE conversation IS NOT NULL;
-- What a claim asks of a run in a conversation: whether an earlier one is not over.
CREATE INDEX idx_agent_runs_open ON agent_runs(tenant_id, conversation, number)
    WHERE conversation IS NOT NULL AND status <> 'done';

-- Streamed text. It is kept for a while, and is no part of a journal.
CREATE TABLE agent_run_texts (
    run_id TEXT NOT NULL REFERENCES agent_runs(id),
    number BIGINT NOT NULL,
    contents BYTEA NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (run_id, number)
);
CREATE INDEX idx_agent_run_texts_expiry ON agent_run_texts(expires_at);
ALTER TABLE agent_run_texts ENABLE ROW LEVEL SECURITY;
CREATE POLICY agents_tenant ON agent_run_texts
    USING (EXISTS (SELECT 1 FROM agent_runs
                   WHERE id = run_id AND tenant_id = nullif(current_setting('agents.tenant', true), '')));
