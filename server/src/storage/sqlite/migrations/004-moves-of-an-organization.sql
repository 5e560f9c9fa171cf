-- A move's number is unique within its organization, no longer in the whole store. A store that was copied here from one
-- that counts in each organization keeps its numbers, and the walks begun there go on.
CREATE TABLE move_of_organization (
  organization_id TEXT NOT NULL,
  -- Above all numbers in the store when it was given.
  sequence INTEGER NOT NULL,
  thread_id TEXT NOT NULL,
  left_activity_at INTEGER NOT NULL,
  moved_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, sequence),
  FOREIGN KEY (organization_id, thread_id) REFERENCES thread (organization_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO move_of_organization (organization_id, sequence, thread_id, left_activity_at, moved_at)
  SELECT organization_id, sequence, thread_id, left_activity_at, moved_at FROM thread_move;
DROP TABLE thread_move;
ALTER TABLE move_of_organization RENAME TO thread_move;
CREATE INDEX thread_move_position ON thread_move (organization_id, left_activity_at, thread_id);
CREATE INDEX thread_move_sequence ON thread_move (sequence);
