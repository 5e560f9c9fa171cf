import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { TableName } from '../archive.ts';
import { purgeOrder } from '../removal-rules.ts';
import { findUserId } from '../sql/members.ts';
import { isRunning } from '../sql/messages.ts';
import { add, anonymizeAudit, type Counts, countPurge, purgeOfPeople } from '../sql/purge.ts';
import { empty, identifier, type Sql, sql, statement } from '../sql/sql.ts';
import { count, rows, run, type Work } from '../sql/work.ts';
import type { PurgeStep, Purges } from '../store.ts';
import type { Database } from './database.ts';
import { removeDeletedThreads, type ThreadName } from './retention.ts';

const batchRows = 500;
const foreignKeyViolation = '23503';
const people = purgeOfPeople(sql`deleted_at IS NULL`);

/** The people that a removed row was about. */
interface Owners {
  userId: UserId | null;
  createdBy?: UserId | null;
}

const ownersOf: Partial<Record<TableName, Sql>> = {
  api_key: sql`user_id AS "userId", created_by AS "createdBy"`,
  member: sql`user_id AS "userId"`,
  thread: sql`user_id AS "userId"`,
};

const removeRows = (
  table: TableName,
  condition: Sql,
) => sql`DELETE FROM ${identifier(table)} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${identifier(table)} WHERE organization_id = :organizationId ${condition} LIMIT ${batchRows}))
  RETURNING ${ownersOf[table] ?? sql`NULL AS "userId"`}`;

const removal = new Map(
  purgeOrder.map((table) => [table, statement(`purge-${table}`)`${removeRows(table, empty)}`]),
);
const removeRunning = statement('purge-running-replies')`${removeRows('message', sql`AND ${isRunning}`)}`;
const disableApi = statement('purge-close-api')`
  UPDATE organization SET api_enabled = false WHERE id = :organizationId AND api_enabled`;
const removeOrganization = statement('purge-organization')`
  DELETE FROM organization WHERE id = :organizationId RETURNING id`;
const lockDeletedThreads = statement('find-deleted-threads-of-user')`
  SELECT organization_id AS "organizationId", id AS "threadId" FROM thread
  WHERE organization_id = :organizationId AND user_id = :userId AND deleted_at IS NOT NULL LIMIT 100 FOR UPDATE`;
function* purgeStep(organizationId: OrganizationId): Work<PurgeStep> {
  const removed: Counts = {};
  yield* run(disableApi, { organizationId });
  for (const table of purgeOrder) {
    if (table === 'message') add(removed, table, yield* count(removeRunning, { organizationId }));
    const gone = yield* rows<Owners>(removal.get(table)!, { organizationId });
    add(removed, table, gone.length);
    const owners = new Set(gone.flatMap(({ userId, createdBy = null }) => [userId, createdBy]));
    for (const userId of owners) if (userId !== null) yield* people.forget(organizationId, userId, removed);
    if (Object.keys(removed).length > 0) return { removed, done: false };
  }
  add(removed, 'organization', yield* count(removeOrganization, { organizationId }));
  return { removed, done: true };
}

export function postgresPurges({ read, write }: Database): Purges {
  return {
    findUser: (email) => read(() => findUserId(email)),

    countPurge: (organizationId, person) => read(() => countPurge(people, organizationId, person)),

    async purgeOrganization(organizationId) {
      try {
        return await write(() => purgeStep(organizationId));
      } catch (error) {
        // Another node has written a row in the meantime: the next step removes it.
        if ((error as { code?: string }).code === foreignKeyViolation) return { removed: {}, done: false };
        throw error;
      }
    },

    purgePerson: (organizationId, userId) =>
      write(function* () {
        const removed: Counts = {};
        const threads = yield* rows<ThreadName>(lockDeletedThreads, { organizationId, userId });
        if (threads.length > 0) {
          const gone = yield* removeDeletedThreads(threads, batchRows);
          add(removed, 'message', gone.messages);
          add(removed, 'idempotency_key', gone.idempotencyKeys);
          add(removed, 'thread', gone.threads);
          return { removed, done: false };
        }
        yield* people.removeTraces(organizationId, userId, removed);
        return { removed, done: true };
      }),

    anonymizeAudit: (organizationId, person, after) =>
      write(() => anonymizeAudit(organizationId, person, after)),

    // PostgreSQL vacuums dead rows by itself.
    finishPurge: async () => true,
  };
}
