import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { TableName } from '../archive.ts';
import { purgedEmail, purgeOrder } from '../purge-rules.ts';
import { add, type Counts, countPurge, knownElsewhere, type Read, readAuditOf } from '../purge-survey.ts';
import type { PurgeStep, Purges } from '../store.ts';
import type { Database, Run, Statement } from './database.ts';
import { lockUser } from './passwords.ts';
import { isRunning } from './replies.ts';
import { removeDeletedThreads, type ThreadName } from './thread-removal.ts';

const batchRows = 500;
const foreignKeyViolation = '23503';
const elsewhere = knownElsewhere('deleted_at IS NULL');

interface Owners {
  user_id: UserId | null;
  created_by?: UserId | null;
}

const ownersOf: Partial<Record<TableName, string>> = {
  api_key: 'user_id, created_by',
  member: 'user_id',
  thread: 'user_id',
};

function removeText(table: TableName, condition: string): string {
  return `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} WHERE organization_id = $1 ${condition} LIMIT ${batchRows}))
    RETURNING ${ownersOf[table] ?? 'NULL AS user_id'}`;
}

const removal = new Map<TableName, Statement>(
  purgeOrder.map((table) => [table, { name: `purge-${table}`, text: removeText(table, '') }]),
);
const removeRunning = { name: 'purge-running-replies', text: removeText('message', `AND ${isRunning}`) };
const closeApi = {
  name: 'purge-close-api',
  text: 'UPDATE organization SET api_enabled = false WHERE id = $1 AND api_enabled',
};
const removeOrganization = {
  name: 'purge-organization',
  text: 'DELETE FROM organization WHERE id = $1 RETURNING id',
};
const findUser = { name: 'find-user', text: 'SELECT id FROM "user" WHERE email = $1' };
const deletedThreads = {
  name: 'find-deleted-threads-of-user',
  text: `SELECT organization_id, id FROM thread
    WHERE organization_id = $1 AND user_id = $2 AND deleted_at IS NOT NULL LIMIT 100 FOR UPDATE`,
};
const forget = {
  name: 'forget-person',
  text: `WITH person AS (
      SELECT id FROM "user" WHERE id = $2 AND NOT ${elsewhere.belongsAnywhere}
    ), sessions AS (
      DELETE FROM session USING person WHERE user_id = person.id RETURNING 1
    ), passwords AS (
      DELETE FROM password USING person WHERE user_id = person.id RETURNING 1
    ), identities AS (
      DELETE FROM identity USING person WHERE user_id = person.id RETURNING 1
    ), users AS (
      UPDATE "user" SET email = $3 FROM person
      WHERE "user".id = person.id AND email <> $3 AND NOT ${elsewhere.left} RETURNING 1
    )
    SELECT (SELECT count(*) FROM sessions) AS session, (SELECT count(*) FROM passwords) AS password,
      (SELECT count(*) FROM identities) AS identity, (SELECT count(*) FROM users) AS user`,
};
/** What is left of a person whose threads have been removed. */
const traces: readonly (readonly [TableName | undefined, Statement])[] = [
  [
    'credential_use',
    {
      name: 'purge-uses-of-person',
      text: `DELETE FROM credential_use USING api_key WHERE credential_use.organization_id = $1
        AND api_key.organization_id = $1 AND user_id = $2 AND credential_id = api_key.id RETURNING 1`,
    },
  ],
  [
    undefined,
    {
      name: 'purge-creator-of-keys',
      text: 'UPDATE api_key SET created_by = NULL WHERE organization_id = $1 AND created_by = $2',
    },
  ],
  ...(['api_key', 'idempotency_key', 'listing_size', 'prompt_use'] as const).map(
    (table) =>
      [
        table,
        {
          name: `purge-${table}-of-person`,
          text: `DELETE FROM ${table} WHERE organization_id = $1 AND user_id = $2 RETURNING 1`,
        },
      ] as const,
  ),
];
const rewriteAudit = {
  name: 'purge-person-from-audit',
  text: `UPDATE audit_event SET actor_user_id = change.actor, subject = change.subject, detail = change.detail
    FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[]) AS change (at, id, actor, subject, detail)
    WHERE organization_id = $1 AND audit_event.at = change.at AND audit_event.id = change.id`,
};

export function postgresPurges(database: Database): Purges {
  const { run } = database;
  const read: Read = async <Row>(text: string, values: readonly (string | number)[]) =>
    // Without a name: they are run seldom, and are many.
    (await run({ text } as Statement, [...values])) as Row[];

  return {
    async findUser(email) {
      return (await run<{ id: UserId }>(findUser, [email]))[0]?.id;
    },

    countPurge: (organizationId, person) => countPurge(read, elsewhere, organizationId, person),

    async purgeOrganization(organizationId) {
      try {
        return await database.transaction((runHere) => purgeStep(runHere, organizationId));
      } catch (error) {
        // Somebody has written a row meanwhile: the next step removes it.
        if ((error as { code?: string }).code === foreignKeyViolation) return { removed: {}, done: false };
        throw error;
      }
    },

    purgePerson: (organizationId, userId) =>
      database.transaction(async (runHere) => {
        const removed: Counts = {};
        const threads = await runHere<ThreadName>(deletedThreads, [organizationId, userId]);
        if (threads.length > 0) {
          const gone = await removeDeletedThreads(runHere, threads, batchRows);
          add(removed, 'message', gone.messages);
          add(removed, 'idempotency_key', gone.idempotencyKeys);
          add(removed, 'thread', gone.threads);
          return { removed, done: false };
        }
        for (const [table, statement] of traces) {
          const rows = await runHere(statement, [organizationId, userId]);
          if (table !== undefined) add(removed, table, rows.length);
        }
        await forgetPerson(runHere, organizationId, userId, removed);
        return { removed, done: true };
      }),

    async anonymizeAudit(organizationId, person, after) {
      const { changes, next } = await readAuditOf(read, organizationId, person, after);
      if (changes.length > 0) {
        const columns = (['at', 'id', 'actor', 'subject', 'detail'] as const).map((column) =>
          changes.map((change) => change[column]),
        );
        await run(rewriteAudit, [organizationId, ...columns]);
      }
      return { changed: changes.length, next };
    },

    // Dead rows are PostgreSQL's to vacuum.
    finishPurge: async () => {},
  };
}

async function purgeStep(run: Run, organizationId: OrganizationId): Promise<PurgeStep> {
  const removed: Counts = {};
  await run(closeApi, [organizationId]);
  for (const table of purgeOrder) {
    if (table === 'message') add(removed, table, (await run(removeRunning, [organizationId])).length);
    const gone = await run<Owners & Record<string, unknown>>(removal.get(table)!, [organizationId]);
    add(removed, table, gone.length);
    const known = new Set(gone.flatMap(({ user_id, created_by }) => [user_id, created_by ?? null]));
    for (const userId of known) if (userId !== null) await forgetPerson(run, organizationId, userId, removed);
    if (Object.keys(removed).length > 0) return { removed, done: false };
  }
  add(removed, 'organization', (await run(removeOrganization, [organizationId])).length);
  return { removed, done: true };
}

async function forgetPerson(
  run: Run,
  organizationId: OrganizationId,
  userId: UserId,
  removed: Counts,
): Promise<void> {
  await run(lockUser, [userId]);
  const values = [organizationId, userId, purgedEmail(userId)];
  const [counts] = await run<Record<'session' | 'password' | 'identity' | 'user', number>>(forget, values);
  for (const table of ['session', 'password', 'identity', 'user'] as const)
    add(removed, table, counts![table]);
}
