-- Labels of a run, as an object of texts.
ALTER TABLE agent_runs ADD COLUMN labels JSONB NOT NULL DEFAULT '{}';
-- Whoever has paused the run.
ALTER TABLE agent_runs ADD COLUMN paused_by TEXT;
CREATE INDEX idx_agent_runs_labels ON agent_runs USING GIN (labels jsonb_path_ops) WHERE labels <> '{}';
CREATE INDEX idx_agent_runs_unfinished ON agent_runs(status) WHERE status <> 'done';
CREATE INDEX idx_agent_runs_contents ON agent_runs(updated_at) WHERE status = 'done' AND length(data_key) > 0;

-- A person's verdict about an execution in doubt.
ALTER TABLE agent_tool_executions ADD COLUMN had_effect BOOLEAN;
ALTER TABLE agent_tool_executions ADD COLUMN settled_by TEXT;
ALTER TABLE agent_tool_executions ADD COLUMN settled_at BIGINT;
ALTER TABLE agent_tool_executions ADD COLUMN settled_proof BYTEA;
CREATE INDEX idx_tool_executions_doubts ON agent_tool_executions(executed_at, id)
    WHERE effect_unknown AND had_effect IS NULL;

-- The last event of the audit trail that each webhook has seen. Only the owner of the tables has these rows.
CREATE TABLE agent_webhooks (
    name TEXT PRIMARY KEY,
    seen BIGINT NOT NULL
);
ALTER TABLE agent_webhooks ENABLE ROW LEVEL SECURITY;

-- Events that a webhook has not been told of. Without a time for the next try, the webhook is not tried again.
CREATE TABLE agent_deliveries (
    webhook TEXT NOT NULL,
    event BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    next_at BIGINT,
    error TEXT,
    PRIMARY KEY (webhook, event)
);
CREATE INDEX idx_agent_deliveries_due ON agent_deliveries(webhook, next_at) WHERE next_at IS NOT NULL;
ALTER TABLE agent_deliveries ENABLE ROW LEVEL SECURITY;
