import type { LogPosition } from '../../domain/cursor.ts';
import { notFound } from '../../domain/errors.ts';
import type { UserId } from '../../domain/id.ts';
import { mailCounters } from '../../domain/mail.ts';
import { normalizeEmail } from '../../domain/organization.ts';
import { dueAgeMs, type RetentionKind, retentionKinds } from '../../domain/retention.ts';
import { dayMs } from '../../domain/time.ts';
import type {
  PurgeCounts,
  PurgedPerson,
  PurgeStep,
  RetentionBatch,
  RetentionPlace,
} from '../../storage/port/store.ts';
import { authorize } from '../authorize.ts';
import type { Context, OrganizationCall } from '../context.ts';
import { auditNote, type Change } from './audit-log.ts';

/** Called after each step. It may delay the next step, so that others can use the store. */
type Proceed = () => Promise<void>;

type AnonymizedPage = Awaited<ReturnType<Context['store']['anonymizeAudit']>>;

const walkLimit = 100;

/** How long a purge waits for readers of the journal, such as a backup. */
const journalWaitMs = 5_000;

export interface Purged {
  readonly rows: PurgeCounts;
  /** False if a reader kept the journal of the embedded store from being emptied: it still holds removed rows. */
  readonly journalEmptied: boolean;
}

/** Removes all data of the organization. Run it again after an interruption to finish. */
export function purgeOrganization(
  { context: { store }, organizationId }: OrganizationCall,
  proceed: Proceed,
): Promise<Purged> {
  return purge(store, proceed, (_rows, keepName) => store.purgeOrganization(organizationId, keepName));
}

/** Membership and keys end first, and again if the person rejoins meanwhile. Run it again after an interruption. */
export function purgePerson(change: Change, person: PurgedPerson, proceed: Proceed): Promise<Purged> {
  const { store } = change.context;
  let isActive: boolean | undefined = true;
  return purge(store, proceed, async (rows, keepName) => {
    if (isActive) await endAccess(change, person, proceed, rows);
    const step = await store.purgePerson(change.organizationId, person, keepName);
    isActive = step.isActive;
    return step;
  });
}

type Counts = Record<string, number>;

/** Removes the name last, after the words of removed texts, so that an interrupted purge can be repeated by name. */
async function purge(
  store: Context['store'],
  proceed: Proceed,
  next: (rows: Counts, keepName: boolean) => Promise<PurgeStep>,
): Promise<Purged> {
  const rows: Counts = {};
  let journalEmptied = false;
  for (const keepName of [true, false]) {
    for (let isDone = false; !isDone; ) {
      const { removed, done } = await next(rows, keepName);
      for (const [table, count] of Object.entries(removed)) add(rows, table, count);
      isDone = done;
      if (!isDone) await proceed();
    }
    journalEmptied = await store.finishPurge(keepName ? 0 : journalWaitMs);
  }
  return { rows, journalEmptied };
}

function add(rows: Counts, table: string, count: number): void {
  if (count > 0) rows[table] = (rows[table] ?? 0) + count;
}

async function endAccess(
  change: Change,
  person: PurgedPerson,
  proceed: Proceed,
  rows: Counts,
): Promise<void> {
  const { context, organizationId } = change;
  const { store } = context;
  const note = auditNote(change, 'member.removed', person.userId);
  const ended = await authorize(
    context,
    note.authority,
    store.removeMember(organizationId, person.email, false, note),
  );
  if (ended.outcome === 'removed') add(rows, 'member', 1);
  await deleteThreads(change, person.userId, proceed);
  let after: LogPosition | null = null;
  do {
    const { changed, next }: AnonymizedPage = await store.anonymizeAudit(organizationId, person, after);
    add(rows, 'audit_event', changed);
    await proceed();
    after = next;
  } while (after !== null);
}

/** The rows that a purge would remove or rewrite, by table. Changes nothing. */
export function surveyPurge(call: OrganizationCall, person: PurgedPerson | null): Promise<PurgeCounts> {
  return call.context.store.countPurge(call.organizationId, person);
}

/** A person by their address, whether or not they are still a member of anything. */
export async function findPurgedPerson(
  { store, sha256 }: Pick<Context, 'store' | 'sha256'>,
  email: string,
): Promise<PurgedPerson> {
  const address = normalizeEmail(email);
  const userId = address && (await store.findUser(address));
  if (!address || !userId) throw notFound(`No data is stored for ${email}.`);
  return { userId, email: address, mailCounters: mailCounters(address, sha256) };
}

/** Marks the threads as deleted first, so that no reader sees one without its messages. Cancels running replies. */
async function deleteThreads(change: Change, userId: UserId, proceed: Proceed): Promise<void> {
  const { store } = change.context;
  const { organizationId } = change;
  for (;;) {
    const { rows } = await store.beginWalk(organizationId, { userId, ownOnly: true }, walkLimit);
    if (rows.length === 0) return;
    // Together, so that they share commits: one by one, each thread would wait for the disk.
    const deletions = rows.map(({ thread }) => {
      const initiator = { ...change.initiator, authority: { kind: 'operator', userId } } as const;
      return store.deleteThread(
        organizationId,
        thread.id,
        auditNote({ ...change, initiator }, 'thread.deleted', thread.id),
      );
    });
    await Promise.all(deletions);
    await proceed();
  }
}

/** Removes what is older than retention allows. `proceed` is called after each batch, and returns false to stop. */
export async function enforceRetention(
  { store, retentionMs, telemetry }: Pick<Context, 'store' | 'retentionMs' | 'telemetry'>,
  proceed: (kind: RetentionKind, batch: RetentionBatch) => Promise<boolean>,
): Promise<void> {
  for (const kind of retentionKinds) {
    const keepMs = retentionMs[kind];
    if (keepMs === undefined) continue;
    let place: RetentionPlace | null = '';
    while (place !== null) {
      const ageMs = dueAgeMs(kind, keepMs, await store.clockAheadMs());
      const batch: RetentionBatch = await store.removeExpired(kind, ageMs, place);
      telemetry.retentionRemoved(kind, batch.removed);
      if (!(await proceed(kind, batch))) return;
      place = batch.next;
    }
  }
  telemetry.retentionPassed();
}

/** The retention settings, and how many rows are due for removal, up to 10,000 of each kind. */
export async function surveyRetention({ store, retentionMs }: Pick<Context, 'store' | 'retentionMs'>) {
  const aheadMs = await store.clockAheadMs();
  const rules = [];
  for (const kind of retentionKinds) {
    const keepMs = retentionMs[kind];
    rules.push({
      kind,
      days: keepMs === undefined ? undefined : keepMs / dayMs,
      due: keepMs === undefined ? 0 : await store.countExpired(kind, dueAgeMs(kind, keepMs, aheadMs)),
    });
  }
  return rules;
}
