import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { TableName } from '../archive.ts';
import { purgedEmail, purgeOrder } from '../purge-rules.ts';
import {
  add,
  type Counts,
  countPurge,
  type KnownElsewhere,
  knownElsewhere,
  type Read,
  readAuditOf,
} from '../purge-survey.ts';
import type { PurgeStep, Purges } from '../store.ts';
import type { Database, Run } from './database.ts';
import { lockUser } from './passwords.ts';
import { isRunning } from './replies.ts';
import { compile, empty, identifier, type Sql, type Statement, sql, statement } from './sql.ts';
import { removeDeletedThreads, type ThreadName } from './thread-removal.ts';

const batchRows = 500;
const foreignKeyViolation = '23503';
const elsewhere = knownElsewhere('deleted_at IS NULL') as Record<keyof KnownElsewhere, Sql>;

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
const findUser = statement('find-user')`SELECT id FROM "user" WHERE email = :email`;
const lockDeletedThreads = statement('find-deleted-threads-of-user')`
  SELECT organization_id AS "organizationId", id AS "threadId" FROM thread
  WHERE organization_id = :organizationId AND user_id = :userId AND deleted_at IS NOT NULL LIMIT 100 FOR UPDATE`;
const forget = statement('forget-person')`WITH person AS (
    SELECT id FROM "user" WHERE id = :userId AND NOT ${elsewhere.belongsAnywhere}
  ), sessions AS (
    DELETE FROM session USING person WHERE user_id = person.id RETURNING 1
  ), passwords AS (
    DELETE FROM password USING person WHERE user_id = person.id RETURNING 1
  ), identities AS (
    DELETE FROM identity USING person WHERE user_id = person.id RETURNING 1
  ), users AS (
    UPDATE "user" SET email = :purgedEmail FROM person
    WHERE "user".id = person.id AND email <> :purgedEmail AND NOT ${elsewhere.left} RETURNING 1
  )
  SELECT (SELECT count(*) FROM sessions) AS session, (SELECT count(*) FROM passwords) AS password,
    (SELECT count(*) FROM identities) AS identity, (SELECT count(*) FROM users) AS user`;
/** Removes the rest of a person whose threads have been removed. Rows of an undefined table are not counted. */
const removeTraces: readonly (readonly [TableName | undefined, Statement])[] = [
  [
    'credential_use',
    statement('purge-uses-of-person')`DELETE FROM credential_use USING api_key
      WHERE credential_use.organization_id = :organizationId AND api_key.organization_id = :organizationId
        AND user_id = :userId AND credential_id = api_key.id RETURNING 1`,
  ],
  [
    undefined,
    statement('purge-creator-of-keys')`UPDATE api_key SET created_by = NULL
      WHERE organization_id = :organizationId AND created_by = :userId`,
  ],
  ...(['api_key', 'idempotency_key', 'listing_size', 'prompt_use'] as const).map(
    (table): [TableName, Statement] => [
      table,
      statement(`purge-${table}-of-person`)`DELETE FROM ${identifier(table)}
      WHERE organization_id = :organizationId AND user_id = :userId RETURNING 1`,
    ],
  ),
];
const rewriteAudit = statement('purge-person-from-audit')`
  UPDATE audit_event SET actor_user_id = change.actor, subject = change.subject, detail = change.detail
  FROM unnest(:at::bigint[], :id::text[], :actor::text[], :subject::text[], :detail::text[])
    AS change (at, id, actor, subject, detail)
  WHERE organization_id = :organizationId AND audit_event.at = change.at AND audit_event.id = change.id`;

export function postgresPurges(database: Database): Purges {
  const { run } = database;
  // These queries have no name: they run rarely, and there are many.
  const read: Read = (text, values) => run(compile('', text as Sql), values);

  return {
    findUser: async (email) => (await run<{ id: UserId }>(findUser, { email }))[0]?.id,

    countPurge: (organizationId, person) => countPurge(read, elsewhere, organizationId, person),

    async purgeOrganization(organizationId) {
      try {
        return await database.transaction((runHere) => purgeStep(runHere, organizationId));
      } catch (error) {
        // Another node has written a row in the meantime: the next step removes it.
        if ((error as { code?: string }).code === foreignKeyViolation) return { removed: {}, done: false };
        throw error;
      }
    },

    purgePerson: (organizationId, userId) =>
      database.transaction(async (runHere) => {
        const removed: Counts = {};
        const threads = await runHere<ThreadName>(lockDeletedThreads, { organizationId, userId });
        if (threads.length > 0) {
          const gone = await removeDeletedThreads(runHere, threads, batchRows);
          add(removed, 'message', gone.messages);
          add(removed, 'idempotency_key', gone.idempotencyKeys);
          add(removed, 'thread', gone.threads);
          return { removed, done: false };
        }
        for (const [table, removeTrace] of removeTraces) {
          const rows = await runHere(removeTrace, { organizationId, userId });
          if (table !== undefined) add(removed, table, rows.length);
        }
        await forgetPerson(runHere, organizationId, userId, removed);
        return { removed, done: true };
      }),

    async anonymizeAudit(organizationId, person, after) {
      const { changes, next } = await readAuditOf(read, organizationId, person, after);
      if (changes.length > 0) {
        await run(rewriteAudit, {
          organizationId,
          at: changes.map(({ at }) => at),
          id: changes.map(({ id }) => id),
          actor: changes.map(({ actor }) => actor),
          subject: changes.map(({ subject }) => subject),
          detail: changes.map(({ detail }) => detail),
        });
      }
      return { changed: changes.length, next };
    },

    // PostgreSQL vacuums dead rows by itself.
    finishPurge: async () => {},
  };
}

async function purgeStep(run: Run, organizationId: OrganizationId): Promise<PurgeStep> {
  const removed: Counts = {};
  await run(disableApi, { organizationId });
  for (const table of purgeOrder) {
    if (table === 'message') add(removed, table, (await run(removeRunning, { organizationId })).length);
    const rows = await run<Owners>(removal.get(table)!, { organizationId });
    add(removed, table, rows.length);
    const people = new Set(rows.flatMap(({ userId, createdBy = null }) => [userId, createdBy]));
    for (const userId of people)
      if (userId !== null) await forgetPerson(run, organizationId, userId, removed);
    if (Object.keys(removed).length > 0) return { removed, done: false };
  }
  add(removed, 'organization', (await run(removeOrganization, { organizationId })).length);
  return { removed, done: true };
}

async function forgetPerson(
  run: Run,
  organizationId: OrganizationId,
  userId: UserId,
  removed: Counts,
): Promise<void> {
  await lockUser(run, userId);
  const values = { organizationId, userId, purgedEmail: purgedEmail(userId) };
  const [counts] = await run<Record<'session' | 'password' | 'identity' | 'user', number>>(forget, values);
  for (const table of ['session', 'password', 'identity', 'user'] as const)
    add(removed, table, counts![table]);
}
