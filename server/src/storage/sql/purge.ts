import type { LogPosition } from '../../domain/cursor.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { archiveTable, type TableName } from '../port/archive.ts';
import type { PurgeCounts, PurgedPerson, PurgeStep, Purges } from '../port/store.ts';
import { hasThreads, lockUser } from './accounts.ts';
import type { AuditRow } from './audit.ts';
import { isMember, lockOrganization } from './authority.ts';
import { isRunning } from './replies.ts';
import { batchRows, deadline, type Removal, threadRemoval } from './retention.ts';
import { identifier, type Sql, type Statement, sql, statement, type Values } from './sql.ts';
import { count, method, row, rows, run, type Transactions, type Work } from './work.ts';

const inOrganization = sql`organization_id = :organizationId`;
const ofPerson = sql`${inOrganization} AND user_id = :userId`;
const ofUser = sql`user_id = :userId`;
const threadsOfPerson = sql`(SELECT id FROM thread WHERE ${ofPerson})`;

/**
 * The rows that a purge of a person removes; null if no row identifies a person, or if they go with those of another
 * table. An organization is purged in this order: credentials and members first, to end access, and referring tables
 * before the tables they refer to. A person is purged in the reverse order.
 */
export const rowsOfPerson: Readonly<Record<TableName, Sql | null>> = {
  api_key: ofPerson,
  application: null,
  // Removed with the membership.
  key_request: null,
  invitation: ofPerson,
  member: ofPerson,
  // Ratings in the person's own threads go with the messages.
  rating: sql`${ofPerson} AND thread_id NOT IN ${threadsOfPerson}`,
  message: sql`${inOrganization} AND thread_id IN ${threadsOfPerson}`,
  idempotency_key: ofPerson,
  // Only ids and times; retention removes them within a day.
  thread_move: null,
  // Before the threads: `hasLeft` must not count those that are being purged.
  listing_size: ofPerson,
  thread: ofPerson,
  passage: null,
  document: null,
  corpus: null,
  credential_use: sql`${inOrganization} AND credential_id IN (SELECT id FROM api_key WHERE ${ofPerson})`,
  usage_day: null,
  // Credentials are named by their ids only.
  request_block: null,
  traffic: null,
  quota_use: null,
  // The counters of known devices start with the one for password links.
  prompt_use: sql`${inOrganization} AND (user_id IN (:userId, :invitations) OR strpos(user_id, :passwordLinks) = 1)`,
  // `anonymizeAudit` removes the person from the entries.
  audit_event: null,
  store_clock: null,
  secret: null,
  signing_key: null,
  // The address is replaced.
  user: null,
  organization: null,
  password: ofUser,
  identity: ofUser,
  session: ofUser,
};

const tables = Object.keys(rowsOfPerson) as TableName[];
const belongsToOrganization = (table: TableName) => 'organization_id' in archiveTable(table).columns;
export const purgeOrder = tables.filter(belongsToOrganization);
const tablesOfPerson = tables.filter((table) => rowsOfPerson[table] !== null).toReversed();
const tracesOfPerson = tablesOfPerson.filter(belongsToOrganization);
/** Removed for people who are not members of another organization. */
const secretsOfPerson = tablesOfPerson.filter((table) => !belongsToOrganization(table));
/** Other steps remove a person's rows from these: the end of the membership, and the removal of threads. */
const removedEarlier: ReadonlySet<TableName> = new Set(['invitation', 'member', 'message', 'thread']);

type Counts = Record<string, number>;

function add(counts: Counts, table: string, rows: number): void {
  if (rows > 0) counts[table] = (counts[table] ?? 0) + rows;
}

const findUser = statement('find-user')`SELECT id FROM "user" WHERE email = :email`;
const belongsElsewhere = sql`EXISTS (
  SELECT 1 FROM member WHERE user_id = :userId AND organization_id <> :organizationId)`;
const findMembership = statement('find-any-membership')`SELECT 1 FROM member WHERE user_id = :userId LIMIT 1`;
const replaceEmail = statement('purge-email')`
  UPDATE "user" SET email = :email WHERE id = :userId AND email <> :email RETURNING id`;

function deletions(tables: readonly TableName[]) {
  return tables.map((table) => {
    const remove = statement(`purge-${table}-of-person`)`
      DELETE FROM ${identifier(table)} WHERE ${rowsOfPerson[table]!} RETURNING 1`;
    return [table, remove] as const;
  });
}

const removeSecrets = deletions(secretsOfPerson);
/** What is left of a person when their threads have been removed. */
const removeEachTrace = deletions(tracesOfPerson.filter((table) => !removedEarlier.has(table)));
// The owner becomes the creator: a key without one is the operator's, which a new proof of the owner does not revoke.
const removeCreator = statement('purge-creator-of-keys')`UPDATE api_key SET created_by = user_id
  WHERE organization_id = :organizationId AND created_by = :userId`;
/** Replies that are listed as unanswered only because of this person's ratings. */
const removeComplaints = statement('purge-complaints-of-person')`UPDATE message SET unanswered_at = NULL
  WHERE organization_id = :organizationId AND unanswered_at <> completed_at
    AND (thread_id, id) IN (SELECT thread_id, message_id FROM rating
      WHERE organization_id = :organizationId AND user_id = :userId AND value = 'down')
    AND NOT EXISTS (SELECT 1 FROM rating AS other WHERE other.organization_id = message.organization_id
      AND other.thread_id = message.thread_id AND other.message_id = message.id
      AND other.user_id <> :userId AND other.value = 'down')`;
const peopleOfOrganization = statement('list-people-to-purge', {
  isRare: true,
})`SELECT user_id AS id FROM member WHERE organization_id = :organizationId
  UNION SELECT user_id FROM thread WHERE organization_id = :organizationId
  UNION SELECT user_id FROM api_key WHERE organization_id = :organizationId AND user_id IS NOT NULL
  UNION SELECT created_by FROM api_key WHERE organization_id = :organizationId AND created_by IS NOT NULL`;
const findKeys = statement('list-keys-to-purge', { isRare: true })`SELECT id FROM api_key WHERE ${ofPerson}`;
const auditRows = 500;
const readAudit = statement('list-audit-to-purge', { isRare: true })`
  SELECT at, id, actor_user_id AS "actorUserId", action, subject, detail FROM audit_event
  WHERE organization_id = :organizationId AND (at, id) > (:afterAt, :afterId) ORDER BY at, id LIMIT ${auditRows}`;
const rewriteAudit = statement('purge-person-from-audit')`
  UPDATE audit_event SET actor_user_id = :actorUserId, subject = :subject, detail = :detail
  WHERE organization_id = :organizationId AND at = :at AND id = :id`;
const disableApi = statement('purge-disable-api')`
  UPDATE organization SET api_enabled = false WHERE id = :organizationId AND api_enabled`;
const removeOrganization = statement('purge-organization')`
  DELETE FROM organization WHERE id = :organizationId RETURNING id`;

const ownerColumns: Partial<Record<TableName, Sql>> = {
  api_key: sql`user_id AS "userId", created_by AS "createdBy"`,
  member: sql`user_id AS "userId"`,
  thread: sql`user_id AS "userId"`,
};

const nextRows = (table: TableName) =>
  sql`(SELECT * FROM ${identifier(table)} WHERE ${inOrganization} LIMIT :limit) AS batch`;
const lockUsers = (ids: Sql) => sql`SELECT id FROM "user" WHERE id IN (${ids}) ORDER BY id FOR NO KEY UPDATE`;
/** People are locked before their rows (decision 33). This lock allows rows that refer to the user. */
const locks: Partial<Record<TableName, Statement>> = {
  api_key: statement('purge-lock-people-of-keys')`${lockUsers(
    sql`SELECT user_id FROM ${nextRows('api_key')} UNION SELECT created_by FROM ${nextRows('api_key')}`,
  )}`,
  member: statement('purge-lock-members')`${lockUsers(sql`SELECT user_id FROM ${nextRows('member')}`)}`,
};

/** On PostgreSQL: one node has removed a row that another node refers to. */
export const isForeignKeyViolation = (error: unknown) => (error as { code?: string }).code === '23503';

/** The purges of a store, except for the remains that removed rows leave in its files. */
export function purges({ read, write }: Transactions, removal: Removal): Omit<Purges, 'finishPurge'> {
  const removeThreads = threadRemoval(removal);
  const removals = new Map(
    purgeOrder.map((table) => [
      table,
      removal.statement(`purge-${table}`)`${removal.deleteFirst(table, inOrganization)}
        RETURNING ${ownerColumns[table] ?? sql`NULL AS "userId"`}`,
    ]),
  );
  const removeRunning = removal.statement('purge-running-replies')`
    ${removal.deleteFirst('message', sql`${inOrganization} AND ${isRunning}`, { hint: sql`INDEXED BY message_running` })}
    RETURNING 1`;
  const findDeletedThreads = statement('find-deleted-threads-of-user')`SELECT id FROM thread
    WHERE ${ofPerson} AND deleted_at IS NOT NULL LIMIT :limit FOR UPDATE`;

  /** If another node has written something that refers to a removed row, the next step removes it. */
  const writeStep = <Step extends PurgeStep>(work: () => Work<Step>): Promise<Step | PurgeStep> =>
    write(work).catch((error) => {
      if (isForeignKeyViolation(error)) return { removed: {}, done: false };
      throw error;
    });

  function* removeSome(organizationId: OrganizationId, table: TableName, removed: Counts): Work<void> {
    const isLate = deadline(removal);
    for (let left = batchRows; left > 0; left -= removal.rowsAtOnce) {
      const values = { organizationId, limit: removal.rowsAtOnce };
      const lock = locks[table];
      if (lock !== undefined) yield* run(lock, values);
      const gone = yield* rows<{ userId: UserId | null; createdBy?: UserId | null }>(
        removals.get(table)!,
        values,
      );
      add(removed, table, gone.length);
      const owners = new Set(gone.flatMap(({ userId, createdBy = null }) => [userId, createdBy]));
      for (const userId of owners) if (userId !== null) yield* forget(organizationId, userId, removed);
      if (gone.length < removal.rowsAtOnce || isLate()) return;
    }
  }

  function* purgeStep(organizationId: OrganizationId, keepName = false): Work<PurgeStep> {
    const removed: Counts = {};
    yield* run(lockOrganization, { organizationId });
    yield* run(disableApi, { organizationId });
    for (const table of purgeOrder) {
      if (table === 'message')
        add(removed, table, yield* count(removeRunning, { organizationId, limit: removal.rowsAtOnce }));
      yield* removeSome(organizationId, table, removed);
      if (Object.keys(removed).length > 0) return { removed, done: false };
    }
    if (!keepName) add(removed, 'organization', yield* count(removeOrganization, { organizationId }));
    return { removed, done: true };
  }

  return {
    findUser: async (email) => (await read(() => row<{ id: UserId }>(findUser, { email })))?.id,

    countPurge: (organizationId, person) => read(() => countPurge(organizationId, person)),

    purgeOrganization: method(writeStep, purgeStep),

    purgePerson: method(writeStep, function* (organizationId, person, keepName = false) {
      const removed: Counts = {};
      const { userId } = person;
      const values = { organizationId, userId, limit: removal.rowsAtOnce };
      const threads = yield* rows<{ id: string }>(findDeletedThreads, values);
      // From the last step to the commit, nobody can join and no thread can be created.
      if (threads.length === 0) {
        yield* run(lockOrganization, { organizationId });
        yield* lockUser(userId);
      }
      if ((yield* isMember(organizationId, userId)) || (yield* count(hasThreads, values)) > 0)
        return { removed, done: false, isActive: true };
      if (threads.length === 0) {
        if (!keepName) yield* removeTraces(organizationId, person, removed);
        return { removed, done: true };
      }
      const gone = yield* removeThreads(organizationId, threads, batchRows, deadline(removal));
      for (const [table, removedRows] of Object.entries(gone)) add(removed, table, removedRows);
      return { removed, done: false };
    }),

    anonymizeAudit: method(write, function* (organizationId, person, after) {
      const { changes, next } = yield* readAuditPage(organizationId, person, after);
      for (const change of changes) yield* run(rewriteAudit, { ...change, organizationId });
      return { changed: changes.length, next };
    }),
  };
}

/** The person has left another organization, which still has one of their threads or keys. */
const hasLeft = sql`EXISTS (SELECT 1 FROM organization WHERE id <> :organizationId AND (
  EXISTS (SELECT 1 FROM listing_size
    WHERE organization_id = organization.id AND user_id = :userId AND account_key = '' AND threads > 0)
  OR EXISTS (SELECT 1 FROM api_key WHERE organization_id = organization.id AND user_id = :userId)))`;
const findElsewhere = statement('find-known-elsewhere')`SELECT 1 AS known WHERE ${hasLeft}`;

/** Removes what is stored about a person who is not a member of any organization. */
function* forget(organizationId: OrganizationId, userId: UserId, removed: Counts): Work<void> {
  yield* lockUser(userId);
  // While the person is a member here, a later step ends the membership.
  if ((yield* count(findMembership, { userId })) > 0) return;
  for (const [table, remove] of removeSecrets) add(removed, table, yield* count(remove, { userId }));
  if ((yield* count(findElsewhere, { organizationId, userId })) > 0) return;
  // No one can sign in with this address.
  add(removed, 'user', yield* count(replaceEmail, { userId, email: `purged:${userId}` }));
}

function* removeTraces(organizationId: OrganizationId, person: PurgedPerson, removed: Counts): Work<void> {
  const values = { organizationId, userId: person.userId, ...person.mailCounters };
  yield* run(removeCreator, values);
  yield* run(removeComplaints, values);
  for (const [table, remove] of removeEachTrace) add(removed, table, yield* count(remove, values));
  yield* forget(organizationId, person.userId, removed);
}

const counting = (table: string, what: string, condition: Sql) =>
  [
    table,
    statement(`count-${table}-of-${what}`, { isRare: true })`
      SELECT count(*) AS rows FROM ${identifier(table)} WHERE ${condition}`,
  ] as const;
const countEachTable = purgeOrder.map((table) => counting(table, 'organization', inOrganization));
const countOrganization = counting('organization', 'organization', sql`id = :organizationId`);
const countEachTrace = tracesOfPerson.map((table) => counting(table, 'person', rowsOfPerson[table]!));
const countEachSecret = [
  ...secretsOfPerson.map((table) =>
    counting(table, 'person', sql`NOT (${belongsElsewhere}) AND ${rowsOfPerson[table]!}`),
  ),
  counting('user', 'person', sql`NOT (${belongsElsewhere} OR ${hasLeft}) AND id = :userId`),
];

function* countRows(
  counts: Counts,
  counted: readonly (typeof countEachTrace)[number][],
  values: Values,
): Work<void> {
  for (const [table, select] of counted)
    add(counts, table, (yield* row<{ rows: number }>(select, values))!.rows);
}

function* countPurge(organizationId: OrganizationId, person: PurgedPerson | null): Work<PurgeCounts> {
  const counts: Counts = {};
  if (person === null) {
    yield* countRows(counts, countEachTable, { organizationId });
    const people = yield* rows<{ id: string }>(peopleOfOrganization, { organizationId });
    for (const { id: userId } of people)
      yield* countRows(counts, countEachSecret, { organizationId, userId });
    yield* countRows(counts, [countOrganization], { organizationId });
    return counts;
  }
  const { userId, mailCounters } = person;
  const values = { organizationId, userId, ...mailCounters };
  yield* countRows(counts, countEachTrace, values);
  let after: LogPosition | null = null;
  do {
    const page: AuditPage = yield* readAuditPage(organizationId, person, after);
    add(counts, 'audit_event', page.changes.length);
    after = page.next;
  } while (after !== null);
  yield* countRows(counts, countEachSecret, { organizationId, userId });
  return counts;
}

type AuditedRow = LogPosition & Pick<AuditRow, 'actorUserId' | 'action' | 'subject' | 'detail'>;

interface AuditPage {
  /** Without the person. */
  readonly changes: readonly AuditedRow[];
  readonly next: LogPosition | null;
}

/** The next entries of the audit log that mention the person. */
function* readAuditPage(
  organizationId: OrganizationId,
  person: PurgedPerson,
  after: LogPosition | null,
): Work<AuditPage> {
  const keys = yield* rows<{ id: string }>(findKeys, { organizationId, userId: person.userId });
  const keyIds = new Set(keys.map(({ id }) => id));
  const values = { organizationId, afterAt: after?.at ?? 0, afterId: after?.id ?? '' };
  const entries = yield* rows<AuditedRow>(readAudit, values);
  const changes = entries
    .map((entry) => ({ entry, change: withoutPerson(entry, person, keyIds) }))
    .filter(({ entry, change }) => JSON.stringify(entry) !== JSON.stringify(change))
    .map(({ change }) => change);
  const last = entries.at(-1);
  return { changes, next: last && entries.length === auditRows ? { at: last.at, id: last.id } : null };
}

/** The id of every purged person in the audit log. */
const purgedUserId = 'usr_purged' as UserId;
const purgedText = '(purged)';

/** `keyIds`: the ids of the person's keys. Key names often contain the names of people and their machines. */
function withoutPerson(
  row: AuditedRow,
  { userId, email }: PurgedPerson,
  keyIds: ReadonlySet<string>,
): AuditedRow {
  const detail = JSON.parse(row.detail);
  // A requested key may never have been created.
  const isRequest = row.action === 'key.requested' && row.actorUserId === userId;
  const isTheirKey = isRequest || keyIds.has(row.subject) || detail.owner === email;
  const purged = (name: string, value: unknown) =>
    value === email || (isTheirKey && name === 'name') ? purgedText : value;
  return {
    ...row,
    actorUserId: row.actorUserId === userId ? purgedUserId : row.actorUserId,
    subject: row.subject === userId ? purgedUserId : row.subject,
    detail: JSON.stringify(detail, purged),
  };
}
