import { type PassageIndex, passagesPerCommit, scopedTerms } from '../sql/documents.ts';
import { statement } from '../sql/sql.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import type { CommitClock } from './store-time.ts';

/** After each part the index of terms is merged in at most this many steps, each in a commit of its own. */
const mergeStepsMax = 4;
/** A merge step of this size took at most 10 ms of the event loop while 5,000 passages were removed. */
export const pagesPerMergeStep = 4;

const lockDocuments = statement('lock-documents')`SELECT id FROM organization WHERE id = :organizationId`;
const growCorpus = statement('grow-corpus')`
  INSERT INTO corpus (organization_id, account_key, passages) VALUES (:organizationId, :accountKey, :passages)
  ON CONFLICT DO UPDATE SET passages = passages + excluded.passages RETURNING number`;

export function sqlitePassageIndex(database: Database, commits: CommitQueue): PassageIndex {
  const touchDocument = database.prepare(
    `UPDATE document SET added_at = @now WHERE organization_id = @organizationId AND id = @id AND state = 'writing'`,
  );
  const insertPassage = database.prepare(
    `INSERT INTO passage (organization_id, document_id, heading, text) VALUES (@organizationId, @id, @heading, @text)`,
  );
  const insertTerms = database.prepare('INSERT INTO passage_term (rowid, terms) VALUES (@number, @terms)');
  const deletePassages = database.prepare(
    `DELETE FROM passage WHERE number IN (
       SELECT number FROM passage WHERE organization_id = @organizationId AND document_id = @id
       LIMIT ${passagesPerCommit})`,
  );
  const mergeStep = prepareMergeStep(database, 'passage_term');

  /** Runs one part at a time for all callers: writes of one turn share a commit, and many parts would make it long. */
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(write: (clock: CommitClock) => T): Promise<T> {
    const next = last.then(() => commits.unsynced(write));
    last = next.catch(() => {});
    return next;
  }

  /** The index does not merge by itself (001-initial.sql), because that would take too long in one commit. */
  async function mergeIndex(): Promise<void> {
    for (let step = 0; step < mergeStepsMax; step += 1) {
      if (!(await inTurn(() => mergeStep(pagesPerMergeStep)))) return;
    }
  }

  return {
    lockDocuments,
    growCorpus,

    async writePart(organizationId, id, corpus, part) {
      const written = await inTurn((clock) => {
        if (touchDocument.run({ organizationId, id, now: clock.now() }).changes === 0) return false;
        for (const { heading, text, terms } of part) {
          const { lastInsertRowid: number } = insertPassage.run({ organizationId, id, heading, text });
          insertTerms.run({ number, terms: scopedTerms(corpus, terms) });
        }
        return true;
      });
      await mergeIndex();
      return written;
    },

    async removePart(organizationId, id) {
      const removed = await inTurn(() => deletePassages.run({ organizationId, id }).changes);
      await mergeIndex();
      return removed;
    },
  };
}

/** One step of merging an index of terms. Returns whether it changed anything. */
export function prepareMergeStep(
  database: Database,
  table: 'passage_term' | 'thread_term',
): (pages: number) => boolean {
  const merge = database.prepare(`INSERT INTO ${table} (${table}, rank) VALUES ('merge', @pages)`);
  const totalChanges = database.prepare<[], number>('SELECT total_changes()').pluck();
  return (pages) => {
    const before = totalChanges.get()!;
    merge.run({ pages });
    // The command itself counts as one change.
    return totalChanges.get()! - before > 1;
  };
}
