import type { OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { TableName } from '../archive.ts';
import { purgedEmail, purgeOrder } from '../purge-rules.ts';
import { add, type Counts, countPurge, knownElsewhere, type Read, readAuditOf } from '../purge-survey.ts';
import { isRunning } from '../reply-rules.ts';
import type { Purges } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { batchMs, deleteText, prepareRemoveThread } from './thread-removal.ts';

const batchRows = 500;
/** Long rows take time to overwrite, so the clock is checked after this many. */
const rowsAtOnce = 20;
/** Pages of the index of passages in one merge step: see document-writer.ts. */
const mergePages = 4;

/** The users that a removed row refers to. */
type Removed = { user_id: UserId | null; created_by?: UserId | null };

const ownersOf: Partial<Record<TableName, string>> = {
  api_key: 'user_id, created_by',
  member: 'user_id',
  thread: 'user_id',
};

const elsewhere = knownElsewhere('deleted = 0');

export function sqlitePurges(database: Database, commits: CommitQueue): Purges {
  const removeThread = prepareRemoveThread(database);
  const people = preparePeople(database);
  const removal = new Map(
    purgeOrder.map((table) => {
      const owners = ownersOf[table];
      const text = deleteText(table, 'organization_id = ?');
      const statement = database.prepare<[string, number], Removed>(
        `${text} RETURNING ${owners ?? 'NULL AS user_id'}`,
      );
      return [table, statement];
    }),
  );
  // The index of held replies does not start with the organization, because there are few in the whole store.
  const removeRunning = database.prepare<[string, string]>(
    `DELETE FROM message WHERE organization_id = ? AND (thread_id, id) IN (
       SELECT thread_id, id FROM message INDEXED BY message_waiting
       WHERE organization_id = ? AND held = 0 AND ${isRunning} LIMIT 100)`,
  );
  const removeHeld = database.prepare<[string]>(
    `DELETE FROM message WHERE (organization_id, thread_id, id) IN (
       SELECT organization_id, thread_id, id FROM message INDEXED BY message_held
       WHERE held = 1 AND ${isRunning} AND organization_id = ? LIMIT 100)`,
  );
  const passagesOf = database
    .prepare<[string, number], number>('SELECT number FROM passage WHERE organization_id = ? LIMIT ? + 0')
    .pluck();
  const removeTerms = database.prepare<[number]>('DELETE FROM passage_term WHERE rowid = ?');
  const closeApi = database.prepare<[string]>(
    'UPDATE organization SET api_enabled = 0 WHERE id = ? AND api_enabled = 1',
  );
  const removeOrganization = database.prepare<[string]>('DELETE FROM organization WHERE id = ?');

  const rewriteAudit = database.prepare(
    `UPDATE audit_event SET actor_user_id = @actor, subject = @subject, detail = @detail
     WHERE organization_id = @organizationId AND at = @at AND id = @id`,
  );
  const read: Read = async <Row>(text: string, values: object) =>
    database.prepare<[object], Row>(text).all(values);

  /** Overwrites removed rows in the file as far as SQLite can: see docs/operating.md. */
  function step<T>(work: (isLate: () => boolean) => T): Promise<T> {
    database.pragma('secure_delete = ON');
    return commits.durable(() => {
      const began = performance.now();
      return work(() => performance.now() - began > batchMs);
    });
  }

  function removeSome(
    organizationId: OrganizationId,
    table: TableName,
    isLate: () => boolean,
    removed: Counts,
  ): void {
    let rows = 0;
    while (rows < batchRows && !isLate()) {
      if (table === 'passage')
        for (const number of passagesOf.all(organizationId, rowsAtOnce)) removeTerms.run(number);
      const gone = removal.get(table)!.all(organizationId, rowsAtOnce);
      rows += gone.length;
      const known = new Set(gone.flatMap(({ user_id, created_by }) => [user_id, created_by ?? null]));
      for (const userId of known) if (userId !== null) people.forget(organizationId, userId, removed);
      if (gone.length < rowsAtOnce) break;
    }
    add(removed, table, rows);
  }

  return {
    async findUser(email) {
      return database.prepare<[string], UserId>('SELECT id FROM user WHERE email = ?').pluck().get(email);
    },

    countPurge: (organizationId, person) => countPurge(read, elsewhere, organizationId, person),

    purgeOrganization: (organizationId) =>
      step((isLate) => {
        const removed: Counts = {};
        closeApi.run(organizationId);
        for (const table of purgeOrder) {
          if (table === 'message') {
            const running =
              removeRunning.run(organizationId, organizationId).changes +
              removeHeld.run(organizationId).changes;
            add(removed, table, running);
          }
          removeSome(organizationId, table, isLate, removed);
          if (isLate() || Object.keys(removed).length > 0) return { removed, done: false };
        }
        add(removed, 'organization', removeOrganization.run(organizationId).changes);
        return { removed, done: true };
      }),

    purgePerson: (organizationId, userId) =>
      step((isLate) => {
        const removed: Counts = {};
        const theirs = database
          .prepare<[string, string], ThreadId>(
            'SELECT id FROM thread WHERE organization_id = ? AND deleted = 1 AND user_id = ? LIMIT 100',
          )
          .pluck()
          .all(organizationId, userId);
        for (const threadId of theirs) {
          if (isLate()) break;
          const gone = removeThread(organizationId, threadId, batchRows, isLate);
          add(removed, 'message', gone.messages);
          add(removed, 'idempotency_key', gone.idempotencyKeys);
          add(removed, 'thread', Number(gone.removed));
        }
        if (theirs.length > 0) return { removed, done: false };
        people.removeTraces(organizationId, userId, removed);
        people.forget(organizationId, userId, removed);
        return { removed, done: true };
      }),

    async anonymizeAudit(organizationId, person, after) {
      const { changes, next } = await readAuditOf(read, organizationId, person, after);
      if (changes.length > 0)
        await step(() => {
          for (const change of changes) rewriteAudit.run({ ...change, organizationId });
        });
      return { changed: changes.length, next };
    },

    async finishPurge() {
      // The index of passages keeps removed terms in its segments until they are merged, which is done in small steps.
      const merge = database.prepare<[number]>(
        "INSERT INTO passage_term (passage_term, rank) VALUES ('merge', ?)",
      );
      const total = database.prepare<[], number>('SELECT total_changes()').pluck();
      for (let pages = -mergePages; ; pages = mergePages) {
        const before = total.get()!;
        await step(() => merge.run(pages));
        // The command itself counts as one change.
        if (total.get()! - before < 2) break;
      }
      database.pragma('wal_checkpoint(TRUNCATE)');
    },
  };
}

function preparePeople(database: Database) {
  const asked = (condition: string) => database.prepare<[object], number>(`SELECT ${condition}`).pluck();
  const belongs = asked(elsewhere.belongsAnywhere);
  const left = asked(elsewhere.left);
  const secrets = (['session', 'password', 'identity'] as const).map(
    (table) => [table, database.prepare<[string]>(`DELETE FROM ${table} WHERE user_id = ?`)] as const,
  );
  const rename = database.prepare<[string, string, string]>(
    'UPDATE user SET email = ? WHERE id = ? AND email <> ?',
  );
  const disown = database.prepare<[string, string]>(
    'UPDATE api_key SET created_by = NULL WHERE organization_id = ? AND created_by = ?',
  );
  const removeUse = database.prepare<[string, string, string]>(
    `DELETE FROM credential_use WHERE organization_id = ? AND credential_id IN (
       SELECT id FROM api_key WHERE organization_id = ? AND user_id = ?)`,
  );
  const traces = (['api_key', 'idempotency_key', 'listing_size', 'prompt_use'] as const).map(
    (table) =>
      [
        table,
        database.prepare<[string, string]>(`DELETE FROM ${table} WHERE organization_id = ? AND user_id = ?`),
      ] as const,
  );
  return {
    /** Removes the remaining rows of a person whose threads have been removed. */
    removeTraces(organizationId: OrganizationId, userId: UserId, removed: Counts): void {
      add(removed, 'credential_use', removeUse.run(organizationId, organizationId, userId).changes);
      disown.run(organizationId, userId);
      for (const [table, statement] of traces)
        add(removed, table, statement.run(organizationId, userId).changes);
    },
    forget(organizationId: OrganizationId, userId: UserId, removed: Counts): void {
      // While the person is a member here, a later step ends the membership.
      if (belongs.get({ userId }) === 1) return;
      for (const [table, statement] of secrets) add(removed, table, statement.run(userId).changes);
      if (left.get({ organizationId, userId }) === 1) return;
      const placeholder = purgedEmail(userId);
      add(removed, 'user', rename.run(placeholder, userId, placeholder).changes);
    },
  };
}
