import type { IndexedPassage } from '../../domain/document.ts';
import type { DocumentId, OrganizationId } from '../../domain/id.ts';
import { accountKey } from '../account-key.ts';
import {
  abandoned,
  abandonedAfterMs,
  budgetFault,
  noteOf,
  partsOf,
  passagesPerCommit,
  scoped,
  withinLimits,
} from '../document-parts.ts';
import type { DocumentNote, Documents, NewDocument, PutDocumentOutcome } from '../store.ts';
import { auditWriter } from './audit.ts';
import type { CommitClock, CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

interface ReadyRow {
  id: DocumentId;
  known_id: DocumentId;
  account_key: string;
  passages: number;
}

/** After each part the index of terms is merged in at most this many steps, each in a commit of its own. */
const mergeStepsMax = 4;
/** A merge step of this size took at most 10 ms of the event loop while 5,000 passages were removed. */
const pagesPerMergeStep = 4;

/** Writes and removes documents in parts: see `putDocument` in the port. */
export function sqliteDocumentWriter(
  database: Database,
  commits: CommitQueue,
): Pick<Documents, 'putDocument' | 'removeDocument' | 'sweepDocuments'> {
  const writeNote = auditWriter(database);
  const findOrganization = database.prepare<[string]>('SELECT 1 FROM organization WHERE id = ?');
  const readyColumns = 'id, coalesce(kept_id, id) AS known_id, account_key, passages';
  const findByName = database.prepare<[string, string, string], ReadyRow>(
    `SELECT ${readyColumns} FROM document
     WHERE organization_id = ? AND account_key = ? AND name = ? AND state = 'ready'`,
  );
  const findById = database.prepare<[string, string], ReadyRow>(
    `SELECT ${readyColumns} FROM document
     WHERE organization_id = ? AND coalesce(kept_id, id) = ? AND state = 'ready'`,
  );
  const taken = database.prepare<[string, string], { documents: number; bytes: number }>(
    `SELECT count(*) AS documents, coalesce(sum(bytes), 0) AS bytes FROM document
     WHERE organization_id = ? AND state <> 'removed' AND id <> ?`,
  );
  const insertDocument = database.prepare(
    `INSERT INTO document (organization_id, id, account_key, name, title, url, passages, bytes, added_at, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'writing')`,
  );
  const touchDocument = database.prepare<[number, string, string]>(
    `UPDATE document SET added_at = ? WHERE organization_id = ? AND id = ? AND state = 'writing'`,
  );
  const showDocument = database.prepare<[number, string | null, string, string]>(
    `UPDATE document SET state = 'ready', added_at = ?, kept_id = ?
     WHERE organization_id = ? AND id = ? AND state = 'writing'`,
  );
  const hideDocument = database.prepare<[string, string]>(
    `UPDATE document SET state = 'removed' WHERE organization_id = ? AND id = ?`,
  );
  const deleteDocument = database.prepare<[string, string]>(
    'DELETE FROM document WHERE organization_id = ? AND id = ?',
  );
  const growCorpus = database
    .prepare<[string, string, number], number>(
      `INSERT INTO corpus (organization_id, account_key, passages) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET passages = passages + excluded.passages RETURNING number`,
    )
    .pluck();
  const insertPassage = database.prepare<[string, string, string, string]>(
    'INSERT INTO passage (organization_id, document_id, heading, text) VALUES (?, ?, ?, ?)',
  );
  const insertTerms = database.prepare<[number | bigint, string]>(
    'INSERT INTO passage_term (rowid, terms) VALUES (?, ?)',
  );
  const someNumbers = database
    .prepare<[string, string, number], number>(
      'SELECT number FROM passage WHERE organization_id = ? AND document_id = ? LIMIT ?',
    )
    .pluck();
  const deletePassage = database.prepare<[number]>('DELETE FROM passage WHERE number = ?');
  const deleteTerms = database.prepare<[number]>('DELETE FROM passage_term WHERE rowid = ?');
  const mergeTerms = database.prepare<[number]>(
    `INSERT INTO passage_term (passage_term, rank) VALUES ('merge', ?)`,
  );
  const totalChanges = database.prepare<[], number>('SELECT total_changes()').pluck();
  const abandonDocument = database.prepare<[string, string]>(
    `UPDATE document SET state = 'removed' WHERE organization_id = ? AND id = ? AND state = 'writing'`,
  );
  const abandonSilent = database.prepare<[number]>(
    `UPDATE document SET state = 'removed' WHERE state <> 'ready' AND state = 'writing' AND added_at < ?`,
  );
  const findRemoved = database.prepare<[], { organization_id: OrganizationId; id: DocumentId }>(
    `SELECT organization_id, id FROM document WHERE state <> 'ready' AND state = 'removed'`,
  );

  /** Runs one part at a time for all callers: writes of one turn share a commit, and many parts would make it long. */
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(write: (clock: CommitClock) => T): Promise<T> {
    const next = last.then(() => commits.unsynced(write));
    last = next.catch(() => {});
    return next;
  }

  /** The index does not merge by itself (001-initial.sql), because that would take too long in one commit. */
  async function mergeIndex(stepsMax = mergeStepsMax): Promise<void> {
    for (let step = 0; step < stepsMax; step += 1) {
      const changes = await inTurn(() => {
        const before = totalChanges.get()!;
        mergeTerms.run(pagesPerMergeStep);
        return totalChanges.get()! - before;
      });
      // The command itself counts as one change.
      if (changes < 2) return;
    }
  }

  function begin(organizationId: OrganizationId, document: NewDocument, clock: CommitClock): number {
    const { id, name, title, url, bytes, passages } = document;
    const key = accountKey(document.accountId);
    insertDocument.run(organizationId, id, key, name, title, url, passages.length, bytes, clock.now());
    return growCorpus.get(organizationId, key, 0)!;
  }

  function writePart(
    organizationId: OrganizationId,
    id: DocumentId,
    corpus: number,
    part: readonly IndexedPassage[],
    clock: CommitClock,
  ): void {
    if (touchDocument.run(clock.now(), organizationId, id).changes === 0) throw abandoned(id);
    for (const { heading, text, terms } of part) {
      const { lastInsertRowid } = insertPassage.run(organizationId, id, heading, text);
      insertTerms.run(lastInsertRowid, terms.map((term) => scoped(corpus, term)).join(' '));
    }
  }

  function hide(organizationId: OrganizationId, { id, account_key, passages }: ReadyRow): void {
    hideDocument.run(organizationId, id);
    growCorpus.get(organizationId, account_key, -passages);
  }

  function show(
    organizationId: OrganizationId,
    { id, accountId, name, passages }: NewDocument,
    note: DocumentNote,
    clock: CommitClock,
  ): ReadyRow | undefined {
    const key = accountKey(accountId);
    const known = findByName.get(organizationId, key, name);
    if (known !== undefined) hide(organizationId, known);
    const keptId = known?.known_id ?? null;
    if (showDocument.run(clock.now(), keptId, organizationId, id).changes === 0) throw abandoned(id);
    growCorpus.get(organizationId, key, passages.length);
    writeNote(organizationId, noteOf(note, keptId as DocumentId | null), clock.now());
    return known;
  }

  /** Removes the passages of a document that is no longer visible. Returns how many there were. */
  async function clear(organizationId: OrganizationId, id: DocumentId): Promise<number> {
    let removed = 0;
    for (;;) {
      const count = await inTurn(() => {
        const numbers = someNumbers.all(organizationId, id, passagesPerCommit);
        for (const number of numbers) {
          deleteTerms.run(number);
          deletePassage.run(number);
        }
        if (numbers.length < passagesPerCommit) deleteDocument.run(organizationId, id);
        return numbers.length;
      });
      await mergeIndex();
      removed += count;
      if (count < passagesPerCommit) return removed;
    }
  }

  /** If this fails, `sweepDocuments` removes the passages later. */
  async function clearIfPossible(organizationId: OrganizationId, id: DocumentId): Promise<void> {
    await clear(organizationId, id).catch(() => {});
  }

  /** Does nothing if the document is ready: the commit may have happened although it was reported as failed. */
  async function abandon(organizationId: OrganizationId, id: DocumentId): Promise<void> {
    const { changes } = await commits.unsynced(() => abandonDocument.run(organizationId, id));
    if (changes > 0) await clear(organizationId, id);
  }

  return {
    async putDocument(organizationId, given, note, budget): Promise<PutDocumentOutcome> {
      const document = withinLimits(given);
      const { id, accountId, name } = document;
      const begun = await commits.unsynced((clock) => {
        if (findOrganization.get(organizationId) === undefined) return 'organization-missing';
        const known = findByName.get(organizationId, accountKey(accountId), name);
        const fault = budgetFault(budget, taken.get(organizationId, known?.id ?? '')!, document);
        return fault ?? begin(organizationId, document, clock);
      });
      if (typeof begun === 'string') return { outcome: begun };
      try {
        for (const part of partsOf(document.passages)) {
          await inTurn((clock) => writePart(organizationId, id, begun, part, clock));
          await mergeIndex();
        }
        // The sync of this commit also makes the earlier ones durable.
        const known = await commits.durable((clock) => show(organizationId, document, note, clock));
        if (known === undefined) return { outcome: 'added', id };
        await clearIfPossible(organizationId, known.id);
        return { outcome: 'replaced', id: known.known_id };
      } catch (error) {
        await abandon(organizationId, id).catch(() => {});
        throw error;
      }
    },

    async removeDocument(organizationId, documentId, note) {
      const known = await commits.durable((clock) => {
        const ready = findById.get(organizationId, documentId);
        if (ready === undefined) return undefined;
        hide(organizationId, ready);
        writeNote(organizationId, note, clock.now());
        return ready;
      });
      if (known === undefined) return 'missing';
      await clearIfPossible(organizationId, known.id);
      return 'removed';
    },

    async sweepDocuments() {
      await commits.unsynced((clock) => abandonSilent.run(clock.now() - abandonedAfterMs));
      let removed = 0;
      for (const { organization_id: organizationId, id } of findRemoved.all()) {
        removed += await clear(organizationId, id);
      }
      return removed;
    },
  };
}
