import type { Values } from '../sql/sql.ts';
import { type Sql, sql } from '../sql/sql.ts';

/** The values of `noteValues`, as columns of the calls of a batched statement. */
export const noteCalls = {
  noteId: 'text',
  noteActorKind: 'text',
  noteActorUserId: 'text',
  noteAction: 'text',
  noteSubject: 'text',
  noteDetail: 'text',
  noteTraceId: 'text',
} as const;

/** For a call that writes no note. */
export const withoutNote: Values = Object.fromEntries(Object.keys(noteCalls).map((name) => [name, null]));

/**
 * Part of a batched statement: writes the audit notes of the calls that have one. `changed` has a row for each call that
 * has changed something, with its columns, and `at` is an expression over that row.
 */
export const insertNotes = (changed: Sql, at: Sql) => sql`
      INSERT INTO audit_event (organization_id, at, id, actor_kind, actor_user_id, action, subject, detail, trace_id)
      SELECT organization_id, ${at}, note_id, note_actor_kind, note_actor_user_id, note_action, note_subject,
        note_detail, note_trace_id
      FROM ${changed} WHERE note_id IS NOT NULL`;
