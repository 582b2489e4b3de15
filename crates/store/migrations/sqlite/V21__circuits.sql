-- Circuits that are open: models that are not asked until a time.
CREATE TABLE llm_circuits (
    name TEXT PRIMARY KEY,
    until INTEGER NOT NULL
) WITHOUT ROWID;
