import type { LogPosition } from '../../domain/cursor.ts';
import { notFound } from '../../domain/errors.ts';
import type { IdGenerator, OrganizationId, UserId } from '../../domain/id.ts';
import { mailCounters } from '../../domain/mail.ts';
import { normalizeEmail } from '../../domain/organization.ts';
import type { PurgeCounts, PurgedPerson, PurgeStep, Store } from '../../storage/port/store.ts';
import { auditNote, type Change } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';

/** Called after each step. It may delay the next step, so that others can use the store. */
type Proceed = () => Promise<void>;

type AnonymizedPage = Awaited<ReturnType<Store['anonymizeAudit']>>;

const walkLimit = 100;

/** How long a purge waits for readers of the journal, such as a backup. */
const journalWaitMs = 5_000;

export interface Purged {
  readonly rows: PurgeCounts;
  /** False if a reader kept the journal of the embedded store from being emptied: it still holds removed rows. */
  readonly journalEmptied: boolean;
}

interface PurgeNeeds {
  readonly store: Pick<
    Store,
    | 'purgeOrganization'
    | 'purgePerson'
    | 'finishPurge'
    | 'countPurge'
    | 'findUser'
    | 'anonymizeAudit'
    | 'removeMember'
    | 'beginWalk'
    | 'deleteThread'
  >;
  readonly ids: Pick<IdGenerator, 'event'>;
  readonly sha256: (text: string) => string;
  readonly authorize: Authorize;
}

export type Purges = ReturnType<typeof createPurges>;

export function createPurges({ store, ids, sha256, authorize }: PurgeNeeds) {
  return { purgeOrganization, purgePerson, survey, findPerson };

  /** Removes all data of the organization. Run it again after an interruption to finish. */
  function purgeOrganization(organizationId: OrganizationId, proceed: Proceed): Promise<Purged> {
    return purge(proceed, (_rows, keepName) => store.purgeOrganization(organizationId, keepName));
  }

  /** Membership and keys end first, and again if the person rejoins meanwhile. Run it again after an interruption. */
  function purgePerson(change: Change, person: PurgedPerson, proceed: Proceed): Promise<Purged> {
    let isActive: boolean | undefined = true;
    return purge(proceed, async (rows, keepName) => {
      if (isActive) await endAccess(change, person, proceed, rows);
      const step = await store.purgePerson(change.organizationId, person, keepName);
      isActive = step.isActive;
      return step;
    });
  }

  /** The rows that a purge would remove or rewrite, by table. Changes nothing. */
  function survey(organizationId: OrganizationId, person: PurgedPerson | null): Promise<PurgeCounts> {
    return store.countPurge(organizationId, person);
  }

  /** A person by their address, whether or not they are still a member of anything. */
  async function findPerson(email: string): Promise<PurgedPerson> {
    const address = normalizeEmail(email);
    const userId = address && (await store.findUser(address));
    if (!address || !userId) throw notFound(`No data is stored for ${email}.`);
    return { userId, email: address, mailCounters: mailCounters(address, sha256) };
  }

  /** Removes the name last, after the words of removed texts, so that an interrupted purge can be repeated by name. */
  async function purge(
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

  async function endAccess(
    change: Change,
    person: PurgedPerson,
    proceed: Proceed,
    rows: Counts,
  ): Promise<void> {
    const { organizationId, initiator } = change;
    const note = auditNote(ids, initiator, 'member.removed', person.userId);
    const ended = await authorize(
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

  /** Marks the threads as deleted first, so that no reader sees one without its messages. Cancels running replies. */
  async function deleteThreads(change: Change, userId: UserId, proceed: Proceed): Promise<void> {
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
          auditNote(ids, initiator, 'thread.deleted', thread.id),
        );
      });
      await Promise.all(deletions);
      await proceed();
    }
  }
}

type Counts = Record<string, number>;

function add(rows: Counts, table: string, count: number): void {
  if (count > 0) rows[table] = (rows[table] ?? 0) + count;
}
