-- The number of a run in the store stands for its id in the tables with a row or more for each step.
ALTER TABLE agent_run_commits ADD COLUMN run BIGINT;
UPDATE agent_run_commits SET run = number FROM agent_runs WHERE id = run_id;
DROP POLICY agents_tenant ON agent_run_commits;
ALTER TABLE agent_run_commits DROP COLUMN run_id; -- its index goes with it
ALTER TABLE agent_run_commits ALTER COLUMN run SET NOT NULL;
ALTER TABLE agent_run_commits ADD PRIMARY KEY (run, last_seq);
ALTER TABLE agent_run_commits ADD FOREIGN KEY (run) REFERENCES agent_runs(number);
CREATE POLICY agents_tenant ON agent_run_commits
    USING (EXISTS (SELECT 1 FROM agent_runs
                   WHERE number = run AND tenant_id = nullif(current_setting('agents.tenant', true), '')));

ALTER TABLE agent_audit_events ADD COLUMN run BIGINT;
UPDATE agent_audit_events AS event SET run = agent_runs.number FROM agent_runs WHERE id = run_id;
ALTER TABLE agent_audit_events DROP COLUMN run_id; -- its index goes with it
ALTER TABLE agent_audit_events ALTER COLUMN run SET NOT NULL;
ALTER TABLE agent_audit_events ADD UNIQUE (run, seq);
ALTER TABLE agent_audit_events ADD FOREIGN KEY (run) REFERENCES agent_runs(number);

ALTER TABLE agent_tool_executions ADD COLUMN run BIGINT;
UPDATE agent_tool_executions SET run = agent_runs.number FROM agent_runs WHERE agent_runs.id = run_id;
ALTER TABLE agent_tool_executions ADD FOREIGN KEY (run) REFERENCES agent_runs(number);
DROP INDEX idx_tool_executions_run;
CREATE INDEX idx_tool_executions_run ON agent_tool_executions(run);

-- Time of the last step. It is in no index, unlike `updated_at`, so that a step touches none of the indexes of runs.
ALTER TABLE agent_runs ADD COLUMN advanced_at BIGINT;
