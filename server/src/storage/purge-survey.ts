import type { OrganizationId } from '../domain/id.ts';
import type { TableName } from './archive.ts';
import { type AuditedRow, purgeOrder, withoutPerson } from './purge-rules.ts';
import type { AuditPosition, PurgeCounts, PurgedPerson } from './store.ts';

/** Runs a query on either adapter. Its values are named in the text, as in `:userId`. */
export type Read = <Row>(text: string, values: Readonly<Record<string, string | number>>) => Promise<Row[]>;

/** Whether an organization other than :organizationId knows the person :userId, as SQL conditions. */
export interface KnownElsewhere {
  /** They are a member there. */
  readonly belongs: string;
  /** They are a member there or of :organizationId. */
  readonly belongsAnywhere: string;
  /** They have left there, and a thread or a key of theirs has stayed. */
  readonly left: string;
}

export function knownElsewhere(isLive: string): KnownElsewhere {
  return {
    belongs: 'EXISTS (SELECT 1 FROM member WHERE user_id = :userId AND organization_id <> :organizationId)',
    belongsAnywhere: 'EXISTS (SELECT 1 FROM member WHERE user_id = :userId)',
    left: `EXISTS (SELECT 1 FROM organization WHERE id <> :organizationId AND (
      EXISTS (SELECT 1 FROM thread WHERE organization_id = organization.id AND user_id = :userId AND ${isLive})
      OR EXISTS (SELECT 1 FROM api_key WHERE organization_id = organization.id AND user_id = :userId)))`,
  };
}

export type Counts = Record<string, number>;

export function add(counts: Counts, table: TableName, rows: number): void {
  if (rows > 0) counts[table] = (counts[table] ?? 0) + rows;
}

const theirs = 'organization_id = :organizationId AND user_id = :userId';
const rowsOfPerson = {
  member: `member WHERE ${theirs}`,
  invitation: `invitation WHERE ${theirs}`,
  api_key: `api_key WHERE ${theirs}`,
  thread: `thread WHERE ${theirs}`,
  listing_size: `listing_size WHERE ${theirs}`,
  idempotency_key: `idempotency_key WHERE ${theirs}`,
  prompt_use: `prompt_use WHERE ${theirs}`,
  message: `thread JOIN message ON message.organization_id = thread.organization_id AND thread_id = thread.id
    WHERE thread.organization_id = :organizationId AND user_id = :userId`,
  credential_use: `api_key JOIN credential_use ON credential_use.organization_id = api_key.organization_id
    AND credential_id = id WHERE api_key.organization_id = :organizationId AND user_id = :userId`,
};
const peopleOfOrganization = `SELECT user_id AS id FROM member WHERE organization_id = :organizationId
  UNION SELECT user_id FROM thread WHERE organization_id = :organizationId
  UNION SELECT user_id FROM api_key WHERE organization_id = :organizationId AND user_id IS NOT NULL
  UNION SELECT created_by FROM api_key WHERE organization_id = :organizationId AND created_by IS NOT NULL`;

/** What a purge would remove or rewrite, by table. */
export async function countPurge(
  read: Read,
  elsewhere: KnownElsewhere,
  organizationId: OrganizationId,
  person: PurgedPerson | null,
): Promise<PurgeCounts> {
  const counts: Counts = {};
  const count = async (table: TableName, from: string, values: Record<string, string>) => {
    const [row] = await read<{ rows: number }>(`SELECT count(*) AS rows FROM ${from}`, values);
    add(counts, table, row!.rows);
  };
  const countForgotten = async (userId: string) => {
    const values = { organizationId, userId };
    const unless = (condition: string) => `WHERE NOT (${condition})`;
    for (const table of ['session', 'password', 'identity'] as const)
      await count(table, `${table} ${unless(elsewhere.belongs)} AND user_id = :userId`, values);
    await count(
      'user',
      `"user" ${unless(`${elsewhere.belongs} OR ${elsewhere.left}`)} AND id = :userId`,
      values,
    );
  };
  if (person === null) {
    for (const table of purgeOrder)
      await count(table, `${table} WHERE organization_id = :organizationId`, { organizationId });
    const people = await read<{ id: string }>(peopleOfOrganization, { organizationId });
    for (const { id } of people) await countForgotten(id);
    await count('organization', 'organization WHERE id = :organizationId', { organizationId });
    return counts;
  }
  for (const [table, from] of Object.entries(rowsOfPerson))
    await count(table as TableName, from, { organizationId, userId: person.userId });
  let after: AuditPosition | null = null;
  do {
    const page: AuditPage = await readAuditOf(read, organizationId, person, after);
    add(counts, 'audit_event', page.changes.length);
    after = page.next;
  } while (after !== null);
  await countForgotten(person.userId);
  return counts;
}

const auditRows = 500;
const auditText = `SELECT at, id, actor_user_id, subject, detail FROM audit_event
  WHERE organization_id = :organizationId AND (at, id) > (:afterAt, :afterId) ORDER BY at, id LIMIT ${auditRows}`;

export interface AuditPage {
  readonly changes: readonly (AuditPosition & { actor: string | null; subject: string; detail: string })[];
  readonly next: AuditPosition | null;
}

/** The changes that remove the person from the next entries of the audit log. */
export async function readAuditOf(
  read: Read,
  organizationId: OrganizationId,
  person: PurgedPerson,
  after: AuditPosition | null,
): Promise<AuditPage> {
  const { userId } = person;
  const keys = await read<{ id: string }>(`SELECT id FROM api_key WHERE ${theirs}`, {
    organizationId,
    userId,
  });
  const keyIds = new Set(keys.map(({ id }) => id));
  const values = { organizationId, afterAt: after?.at ?? 0, afterId: after?.id ?? '' };
  const rows = await read<AuditedRow & AuditPosition>(auditText, values);
  const changes = rows.flatMap(({ at, id, ...row }) => {
    const change = withoutPerson(row, person, keyIds);
    return change === undefined ? [] : [{ at, id, ...change }];
  });
  const last = rows.at(-1);
  return { changes, next: last && rows.length === auditRows ? { at: last.at, id: last.id } : null };
}
