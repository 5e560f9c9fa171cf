import { dayMs, hourMs } from '../domain/iso-time.ts';
import type { RetentionKind } from '../domain/retention.ts';
import type { TableName } from './archive.ts';
import type { AuditRow } from './sql/audit.ts';
import type { PurgedPerson } from './store.ts';

interface RetentionRule {
  readonly table: TableName;
  /** The age of a row. An index has its order within the organization, so that no batch scans a table. */
  readonly column: string;
  /** The unit of the column: milliseconds or days. */
  readonly unitMs: number;
}

export const retentionRules: Readonly<Record<RetentionKind, RetentionRule>> = {
  deleted_threads: { table: 'thread', column: 'deleted_at', unitMs: 1 },
  audit_events: { table: 'audit_event', column: 'at', unitMs: 1 },
  usage_days: { table: 'usage_day', column: 'day', unitMs: dayMs },
  requests: { table: 'request_block', column: 'at', unitMs: 1 },
  traffic_hours: { table: 'traffic_hour', column: 'hour', unitMs: hourMs },
  traffic_days: { table: 'traffic_day', column: 'day', unitMs: dayMs },
  quota_days: { table: 'quota_use', column: 'day', unitMs: dayMs },
  idempotency_keys: { table: 'idempotency_key', column: 'expires_at', unitMs: 1 },
  sessions: { table: 'session', column: 'expires_at', unitMs: 1 },
  invitations: { table: 'invitation', column: 'expires_at', unitMs: 1 },
  thread_moves: { table: 'thread_move', column: 'moved_at', unitMs: 1 },
};

export const batchRows = 500;
export const batchOrganizations = 500;
/** Counting expired rows stops here. */
export const countMax = 10_000;

interface PurgeRule {
  /**
   * What a purge of an organization does with the rows: `remove` those of the organization, `forget` those of people who
   * are known in no other organization, or `keep` them, because they belong to the whole store.
   */
  readonly organization: 'remove' | 'forget' | 'keep';
  /**
   * What a purge of a person does: `remove` their rows in the organization, `forget` as above, `rewrite` what identifies
   * them, or `keep` the rows, because they do not identify a person.
   */
  readonly person: 'remove' | 'forget' | 'rewrite' | 'keep';
}

/**
 * A table that is missing here does not compile. In the order of a purge: referring tables before the tables they refer to,
 * and credentials and members first, to end access.
 */
export const purgeRules: Readonly<Record<TableName, PurgeRule>> = {
  api_key: { organization: 'remove', person: 'remove' },
  application: { organization: 'remove', person: 'keep' },
  key_request: { organization: 'remove', person: 'remove' },
  invitation: { organization: 'remove', person: 'remove' },
  member: { organization: 'remove', person: 'remove' },
  rating: { organization: 'remove', person: 'remove' },
  message: { organization: 'remove', person: 'remove' },
  idempotency_key: { organization: 'remove', person: 'remove' },
  // Only ids and times; retention removes them within a day.
  thread_move: { organization: 'remove', person: 'keep' },
  thread: { organization: 'remove', person: 'remove' },
  listing_size: { organization: 'remove', person: 'remove' },
  passage: { organization: 'remove', person: 'keep' },
  document: { organization: 'remove', person: 'keep' },
  corpus: { organization: 'remove', person: 'keep' },
  credential_use: { organization: 'remove', person: 'remove' },
  usage_day: { organization: 'remove', person: 'keep' },
  // Credentials are named by their ids only.
  request_block: { organization: 'remove', person: 'keep' },
  traffic_hour: { organization: 'remove', person: 'keep' },
  traffic_day: { organization: 'remove', person: 'keep' },
  quota_use: { organization: 'remove', person: 'keep' },
  prompt_use: { organization: 'remove', person: 'remove' },
  audit_event: { organization: 'remove', person: 'rewrite' },
  secret: { organization: 'keep', person: 'keep' },
  signing_key: { organization: 'keep', person: 'keep' },
  user: { organization: 'forget', person: 'forget' },
  organization: { organization: 'remove', person: 'keep' },
  password: { organization: 'forget', person: 'forget' },
  identity: { organization: 'forget', person: 'forget' },
  session: { organization: 'forget', person: 'forget' },
};

/** The tables whose rows belong to one organization. */
export const purgeOrder = (Object.keys(purgeRules) as TableName[]).filter(
  (table) => purgeRules[table].organization === 'remove' && table !== 'organization',
);

/** The id of every purged person in the audit log. */
export const purgedUserId = 'usr_purged';
const purgedText = '(purged)';

/** Replaces the address of a person who is known in no organization any more. No one can sign in with it. */
export function purgedEmail(userId: string): string {
  return `purged:${userId}`;
}

export type AuditedRow = Pick<AuditRow, 'actorUserId' | 'subject' | 'detail'>;

/** The entry without the person, or undefined if it does not mention them. `keyIds`: of their personal keys. */
export function withoutPerson(
  row: AuditedRow,
  { userId, email }: PurgedPerson,
  keyIds: ReadonlySet<string>,
): { actor: string | null; subject: string; detail: string } | undefined {
  const actor = row.actorUserId === userId ? purgedUserId : row.actorUserId;
  const subject = row.subject === userId ? purgedUserId : row.subject;
  // The names of keys often contain those of people and their machines.
  const isTheirKey = keyIds.has(row.subject);
  const entries = Object.entries(JSON.parse(row.detail) as Record<string, unknown>).map(([name, value]) => [
    name,
    value === email || (isTheirKey && name === 'name') ? purgedText : value,
  ]);
  const detail = JSON.stringify(Object.fromEntries(entries));
  const same = actor === row.actorUserId && subject === row.subject && detail === row.detail;
  return same ? undefined : { actor, subject, detail };
}
