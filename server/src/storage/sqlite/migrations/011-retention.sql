-- Each rule of retention has an index over the organization and the time, so that no batch scans a table.
CREATE INDEX thread_deleted ON thread (organization_id, deleted_at, user_id) WHERE deleted = 1;
CREATE INDEX idempotency_key_thread ON idempotency_key (organization_id, thread_id);

-- The number of the last move. It stays when the moves themselves are removed: walks under way compare with it.
ALTER TABLE store_clock ADD COLUMN move_sequence INTEGER NOT NULL DEFAULT 0;
UPDATE store_clock SET move_sequence = coalesce((SELECT max(sequence) FROM thread_move), 0);

-- Without a reference to the thread: a move is kept for a day, and a thread may be removed before that.
CREATE TABLE kept_move (
  organization_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  thread_id TEXT NOT NULL,
  left_activity_at INTEGER NOT NULL,
  moved_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO kept_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
  SELECT organization_id, sequence, thread_id, left_activity_at, moved_at FROM thread_move;
DROP TABLE thread_move;
ALTER TABLE kept_move RENAME TO thread_move;
CREATE INDEX thread_move_position ON thread_move (organization_id, left_activity_at, thread_id);
CREATE INDEX thread_move_age ON thread_move (organization_id, moved_at);
