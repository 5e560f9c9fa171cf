-- Each rule of retention has an index over the organization and the time, so that no batch scans a table.
CREATE INDEX thread_deleted ON thread (organization_id, deleted_at, user_id) WHERE deleted_at IS NOT NULL;
CREATE INDEX idempotency_key_thread ON idempotency_key (organization_id, thread_id);
CREATE INDEX thread_move_age ON thread_move (organization_id, moved_at);

-- A move is kept for a day, and a thread may be removed before that.
ALTER TABLE thread_move DROP CONSTRAINT thread_move_organization_id_thread_id_fkey;
