-- Labels of a run, as a JSON object of texts.
ALTER TABLE agent_runs ADD COLUMN labels TEXT NOT NULL DEFAULT '{}';
-- Whoever has paused the run.
ALTER TABLE agent_runs ADD COLUMN paused_by TEXT;
CREATE INDEX idx_agent_runs_contents ON agent_runs(updated_at) WHERE status = 'done' AND length(data_key) > 0;

-- A person's verdict about an execution in doubt.
ALTER TABLE agent_tool_executions ADD COLUMN had_effect INTEGER;
ALTER TABLE agent_tool_executions ADD COLUMN settled_by TEXT;
ALTER TABLE agent_tool_executions ADD COLUMN settled_at INTEGER;
ALTER TABLE agent_tool_executions ADD COLUMN settled_proof BLOB;
CREATE INDEX idx_tool_executions_doubts ON agent_tool_executions(executed_at, id)
    WHERE effect_unknown AND had_effect IS NULL;

-- The last event of the audit trail that each webhook has seen.
CREATE TABLE agent_webhooks (
    name TEXT PRIMARY KEY,
    seen INTEGER NOT NULL
) WITHOUT ROWID;

-- Events that a webhook has not been told of. Without a time for the next try, the webhook is not tried again.
CREATE TABLE agent_deliveries (
    webhook TEXT NOT NULL,
    event INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER,
    error TEXT,
    PRIMARY KEY (webhook, event)
) WITHOUT ROWID;
CREATE INDEX idx_agent_deliveries_due ON agent_deliveries(webhook, next_at) WHERE next_at IS NOT NULL;
