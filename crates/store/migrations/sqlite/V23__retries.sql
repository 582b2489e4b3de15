-- Retries that are left to an organisation, in tenths. One without a row has made none yet.
CREATE TABLE llm_retry_state (
    org_id TEXT PRIMARY KEY,
    tenths INTEGER NOT NULL
) WITHOUT ROWID;

-- The circuit of a request, and whether its model has failed. It is not known of a request that is under way, was cut off, or
-- was not sent.
ALTER TABLE llm_usage ADD COLUMN circuit TEXT NOT NULL DEFAULT '';
ALTER TABLE llm_usage ADD COLUMN failed INTEGER;
CREATE INDEX idx_llm_usage_circuit ON llm_usage(circuit, number) WHERE failed IS NOT NULL;
