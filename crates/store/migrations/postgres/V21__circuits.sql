-- Circuits that are open: models that are not asked until a time. They are the owner's alone.
CREATE TABLE llm_circuits (
    name TEXT PRIMARY KEY,
    until BIGINT NOT NULL
);
ALTER TABLE llm_circuits ENABLE ROW LEVEL SECURITY;
