import type { Statement } from 'better-sqlite3';
import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import { type RetentionKind, retentionKinds } from '../../domain/retention.ts';
import { archiveTables, type TableName } from '../archive.ts';
import { batchOrganizations, batchRows, countMax, retentionRules } from '../removal-rules.ts';
import type { Values } from '../sql/sql.ts';
import type { Retention } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

/** A batch ends after this time, so that one turn of the event loop stays below 20 ms. */
export const batchMs = 10;
/** Long messages take time to remove, so the clock is checked after this many. */
const messagesAtOnce = 20;
/** Greater than every organization id. */
const end = '~';

/** Deletes the first `@limit` rows that match `condition`, which may end with an ORDER BY. */
export function deleteText(table: TableName, condition: string): string {
  const { columns, keyLength } = archiveTables.find(({ name }) => name === table)!;
  const keys = Object.keys(columns).slice(0, keyLength).join(', ');
  return `DELETE FROM "${table}" WHERE (${keys}) IN (
    SELECT ${keys} FROM "${table}" WHERE ${condition} LIMIT @limit + 0)`;
}

function isDue(kind: RetentionKind, owner = 'organization_id = @organizationId'): string {
  const due = `${retentionRules[kind].column} < @before`;
  if (kind === 'sessions') return due;
  return `${owner} AND ${kind === 'deleted_threads' ? 'deleted = 1 AND ' : ''}${due}`;
}

function removeText(kind: RetentionKind): string {
  const { table, column } = retentionRules[kind];
  const due = `${isDue(kind)} ORDER BY ${column}`;
  return kind === 'deleted_threads'
    ? `SELECT id FROM thread WHERE ${due} LIMIT @limit + 0`
    : deleteText(table, due);
}

/** The organizations with expired rows. */
function ownersText(kind: RetentionKind): string {
  const due = isDue(kind, 'organization_id = organization.id');
  return `SELECT id FROM organization WHERE id > @place AND id <= @pageEnd AND EXISTS (
    SELECT 1 FROM "${retentionRules[kind].table}" WHERE ${due}) ORDER BY id`;
}

type Texts = Record<RetentionKind, string>;

function textsOf(kinds: readonly RetentionKind[], textOf: (kind: RetentionKind) => string): Texts {
  return Object.fromEntries(kinds.map((kind) => [kind, textOf(kind)])) as Texts;
}

const ofOrganizations = retentionKinds.filter((kind) => kind !== 'sessions');

/** Exported for a test of their query plans. */
export const retentionTexts = {
  remove: textsOf(retentionKinds, removeText),
  owners: textsOf(ofOrganizations, ownersText),
};

export function sqliteRetention(database: Database, commits: CommitQueue): Retention {
  const pageEndAfter = database
    .prepare<[Values], OrganizationId>(
      `SELECT id FROM organization WHERE id > @place ORDER BY id LIMIT 1 OFFSET ${batchOrganizations - 1}`,
    )
    .pluck();
  const prepareAll = <Row>(texts: Texts) => {
    const prepared = Object.entries(texts).map(([kind, text]) => {
      const statement = database.prepare<[Values], Row>(text);
      return [kind, statement.reader ? statement.pluck() : statement];
    });
    return Object.fromEntries(prepared) as Record<RetentionKind, Statement<[Values], Row>>;
  };
  const statements = prepareAll<ThreadId>(retentionTexts.remove);
  const owners = prepareAll<OrganizationId>(retentionTexts.owners);
  const removeThread = prepareRemoveThread(database);

  /** Removes at most `limit` expired threads, or messages of them. `more`: whether more may have expired. */
  function removeThreads(
    organizationId: OrganizationId,
    before: number,
    limit: number,
    isLate: () => boolean,
  ) {
    const threads = statements.deleted_threads.all({ organizationId, before, limit });
    let [removed, rows] = [0, 0];
    for (const id of threads) {
      if (rows >= limit || isLate()) break;
      const gone = removeThread(organizationId, id, limit - rows, isLate);
      rows += gone.messages + 1;
      if (gone.removed) removed += 1;
    }
    return { removed, more: removed < threads.length || threads.length === limit };
  }

  function removeRows(kind: RetentionKind, organizationId: OrganizationId, before: number, limit: number) {
    const removed = statements[kind].run({ organizationId, before, limit }).changes;
    return { removed, more: removed === limit };
  }

  return {
    // Without a sync: what a power cut takes back is removed again. Nothing is locked if nothing has expired.
    async removeExpired(kind, keepMs, place) {
      const before = dueBefore(kind, commits.now(), keepMs);
      if (kind === 'sessions') {
        const all = { before, limit: batchRows };
        const removed = await commits.unsynced(() => statements.sessions.run(all).changes);
        return { removed, next: removed === batchRows ? place : null };
      }
      const pageEnd = pageEndAfter.get({ place }) ?? null;
      const due = owners[kind].all({ place, pageEnd: pageEnd ?? end, before });
      if (due.length === 0) return { removed: 0, next: pageEnd };
      return commits.unsynced(() => {
        const began = performance.now();
        const isLate = () => performance.now() - began > batchMs;
        let [removed, last] = [0, place];
        for (const organizationId of due) {
          const left = batchRows - removed;
          const batch =
            kind === 'deleted_threads'
              ? removeThreads(organizationId, before, left, isLate)
              : removeRows(kind, organizationId, before, left);
          removed += batch.removed;
          if (batch.more) return { removed, next: last };
          last = organizationId;
          if (removed === batchRows || isLate()) return { removed, next: last };
        }
        return { removed, next: pageEnd };
      });
    },

    async countExpired(kind, keepMs) {
      const due = isDue(kind, 'organization_id = organization.id');
      const { table } = retentionRules[kind];
      const from = kind === 'sessions' ? 'session' : `organization CROSS JOIN "${table}"`;
      return database
        .prepare<[Values], number>(
          `SELECT count(*) FROM (SELECT 1 FROM ${from} WHERE ${due} LIMIT ${countMax})`,
        )
        .pluck()
        .get({ before: dueBefore(kind, commits.now(), keepMs) })!;
    },
  };
}

/** Rows whose column is below this value have expired. */
function dueBefore(kind: RetentionKind, now: number, keepMs: number): number {
  return Math.floor((now - keepMs) / retentionRules[kind].unitMs);
}

const ofThread = 'organization_id = @organizationId AND thread_id = @threadId';

export const threadRemovalTexts = {
  messages: deleteText('message', ofThread),
  keys: `DELETE FROM idempotency_key WHERE ${ofThread}`,
  thread: 'DELETE FROM thread WHERE organization_id = @organizationId AND id = @threadId AND deleted = 1',
};

/**
 * Removes a deleted thread for good. Stops after `limit` messages and when `isLate`; `removed` is false while messages are
 * left, and another call continues. To be called in a transaction.
 */
export function prepareRemoveThread(database: Database) {
  const removeMessages = database.prepare(threadRemovalTexts.messages);
  const removeKeys = database.prepare(threadRemovalTexts.keys);
  const removeThread = database.prepare(threadRemovalTexts.thread);
  return (organizationId: OrganizationId, threadId: ThreadId, limit: number, isLate: () => boolean) => {
    let messages = 0;
    while (messages < limit && !isLate()) {
      const count = Math.min(messagesAtOnce, limit - messages);
      const { changes } = removeMessages.run({ organizationId, threadId, limit: count });
      messages += changes;
      if (changes < count) {
        const idempotencyKeys = removeKeys.run({ organizationId, threadId }).changes;
        removeThread.run({ organizationId, threadId });
        return { messages, idempotencyKeys, removed: true };
      }
    }
    return { messages, idempotencyKeys: 0, removed: false };
  };
}
