-- Why a run is held, as a word, and the person who holds it; NULL for runs that an earlier version has held.
ALTER TABLE agent_runs ADD COLUMN held_kind TEXT;
ALTER TABLE agent_runs ADD COLUMN held_by TEXT;
