import type { IndexedPassage } from '../../domain/document.ts';
import type { DocumentId, OrganizationId } from '../../domain/id.ts';
import { accountKey } from '../account-key.ts';
import { replacing } from '../audit-row.ts';
import {
  abandoned,
  abandonedAfterMs,
  budgetFault,
  partsOf,
  passagesPerCommit,
  withinLimits,
} from '../document-parts.ts';
import type { AuditNote, Documents, NewDocument, PutDocumentOutcome } from '../store.ts';
import { writeNote } from './audit.ts';
import type { Database, Run } from './database.ts';
import { now } from './store-time.ts';

interface ReadyRow {
  id: DocumentId;
  known_id: DocumentId;
  account_key: string;
  passages: number;
}

// Whoever changes which documents an organization has waits for whoever does so now: names stay unique, counts and budget
// right. Not by the organization's row: creates must not wait for it.
const gate = {
  name: 'lock-documents',
  text: `SELECT id, pg_advisory_xact_lock(hashtextextended('skein documents ' || id, 0)) FROM organization WHERE id = $1`,
};
const readyColumns = 'id, coalesce(kept_id, id) AS known_id, account_key, passages';
const findByName = {
  name: 'find-document-by-name',
  text: `SELECT ${readyColumns} FROM document
    WHERE organization_id = $1 AND account_key = $2 AND name = $3 AND state = 'ready'`,
};
const findById = {
  name: 'find-document-by-id',
  text: `SELECT ${readyColumns} FROM document
    WHERE organization_id = $1 AND coalesce(kept_id, id) = $2 AND state = 'ready'`,
};
const findTaken = {
  name: 'find-document-budget-taken',
  text: `SELECT count(*) AS documents, coalesce(sum(bytes), 0)::bigint AS bytes FROM document
    WHERE organization_id = $1 AND state <> 'removed' AND id <> $2`,
};
const insertDocument = {
  name: 'insert-document',
  text: `INSERT INTO document (organization_id, id, account_key, name, title, url, passages, bytes, added_at, state)
    VALUES ($3, $4, $5, $6, $7, $8, $9, $10, ${now}, 'writing') RETURNING added_at`,
};
const insertPassages = {
  name: 'insert-passages',
  text: `WITH held AS (
      UPDATE document SET added_at = ${now} WHERE organization_id = $3 AND id = $4 AND state = 'writing'
      RETURNING organization_id, id)
    INSERT INTO passage (organization_id, number, document_id, heading, text, terms)
    SELECT held.organization_id, nextval('passage_number'), held.id, heading, passage,
      array_to_tsvector(string_to_array(terms, ' '))
    FROM held, unnest($5::text[], $6::text[], $7::text[]) WITH ORDINALITY AS part (heading, passage, terms, place)
    ORDER BY place RETURNING number`,
};
const showDocument = {
  name: 'show-document',
  text: `UPDATE document SET state = 'ready', added_at = ${now}, kept_id = $5
    WHERE organization_id = $3 AND id = $4 AND state = 'writing' RETURNING added_at`,
};
const hideDocument = {
  name: 'hide-document',
  text: `UPDATE document SET state = 'removed' WHERE organization_id = $1 AND id = $2`,
};
const deletePassages = {
  name: 'delete-passages',
  text: `DELETE FROM passage WHERE organization_id = $1 AND number IN (
      SELECT number FROM passage WHERE organization_id = $1 AND document_id = $2 LIMIT $3)
    RETURNING number`,
};
const deleteDocument = {
  name: 'delete-document',
  text: 'DELETE FROM document WHERE organization_id = $1 AND id = $2',
};
const growCorpus = {
  name: 'grow-corpus',
  text: `INSERT INTO corpus (organization_id, account_key, number, passages)
    VALUES ($1, $2, nextval('corpus_number'), $3)
    ON CONFLICT (organization_id, account_key) DO UPDATE SET passages = corpus.passages + excluded.passages
    RETURNING number`,
};
const abandonDocument = {
  name: 'abandon-document',
  text: `UPDATE document SET state = 'removed' WHERE organization_id = $1 AND id = $2 AND state = 'writing'
    RETURNING id`,
};
const abandonSilent = {
  name: 'abandon-silent-documents',
  text: `UPDATE document SET state = 'removed'
    WHERE state <> 'ready' AND state = 'writing' AND added_at < ${now} - $3::bigint`,
};
const findRemoved = {
  name: 'find-removed-documents',
  text: `SELECT organization_id, id FROM document WHERE state <> 'ready' AND state = 'removed'`,
};

/** Documents on their way in and out: see `putDocument` in the port. */
export function postgresDocumentWriter(
  database: Database,
): Pick<Documents, 'putDocument' | 'removeDocument' | 'sweepDocuments'> {
  const { run, time } = database;

  /** Answers the number of its corpus, or why it may not be added. */
  function begin(
    organizationId: OrganizationId,
    document: NewDocument,
    budget: Parameters<typeof budgetFault>[0],
  ) {
    return database.transaction(async (runHere) => {
      if ((await runHere(gate, [organizationId])).length === 0) return 'organization-missing';
      const { id, name, title, url, bytes, passages } = document;
      const key = accountKey(document.accountId);
      const [known] = await runHere<ReadyRow>(findByName, [organizationId, key, name]);
      const [taken] = await runHere<{ documents: number; bytes: number }>(findTaken, [
        organizationId,
        known?.id ?? '',
      ]);
      const fault = budgetFault(budget, taken!, document);
      if (fault !== undefined) return fault;
      const values = [organizationId, id, key, name, title, url, passages.length, bytes];
      await runHere(insertDocument, [...time.parameters(), ...values]);
      const [corpus] = await runHere<{ number: number }>(growCorpus, [organizationId, key, 0]);
      return corpus!.number;
    });
  }

  async function writePart(
    organizationId: OrganizationId,
    id: DocumentId,
    corpus: number,
    part: readonly IndexedPassage[],
  ): Promise<void> {
    const written = await run(insertPassages, [
      ...time.parameters(),
      organizationId,
      id,
      part.map(({ heading }) => heading),
      part.map(({ text }) => text),
      part.map(({ terms }) => terms.map((term) => scoped(corpus, term)).join(' ')),
    ]);
    if (written.length < part.length) throw abandoned(id);
  }

  async function hide(runHere: Run, organizationId: OrganizationId, ready: ReadyRow): Promise<void> {
    await runHere(hideDocument, [organizationId, ready.id]);
    await runHere(growCorpus, [organizationId, ready.account_key, -ready.passages]);
  }

  function show(organizationId: OrganizationId, document: NewDocument, note: AuditNote) {
    return database.transaction(async (runHere) => {
      await runHere(gate, [organizationId]);
      const { id, name, passages } = document;
      const key = accountKey(document.accountId);
      const [known] = await runHere<ReadyRow>(findByName, [organizationId, key, name]);
      if (known !== undefined) await hide(runHere, organizationId, known);
      const keptId = known?.known_id ?? null;
      const shown = await runHere(showDocument, [...time.parameters(), organizationId, id, keptId]);
      if (shown.length === 0) throw abandoned(id);
      await runHere(growCorpus, [organizationId, key, passages.length]);
      const told = keptId === null ? note : replacing(note, keptId);
      await writeNote(runHere, time, organizationId, told);
      return known;
    });
  }

  /** Of a document that nobody sees any more. Answers how many passages it had. */
  async function clear(organizationId: OrganizationId, id: DocumentId): Promise<number> {
    let removed = 0;
    for (;;) {
      const gone = await run(deletePassages, [organizationId, id, passagesPerCommit]);
      removed += gone.length;
      if (gone.length < passagesPerCommit) break;
    }
    await run(deleteDocument, [organizationId, id]);
    return removed;
  }

  /** What cannot be removed now is left to `sweepDocuments`. */
  async function clearIfPossible(organizationId: OrganizationId, id: DocumentId): Promise<void> {
    await clear(organizationId, id).catch(() => {});
  }

  /** Unless it is ready after all: the commit may have happened though the connection broke before it was told. */
  async function abandon(organizationId: OrganizationId, id: DocumentId): Promise<void> {
    const hidden = await run(abandonDocument, [organizationId, id]);
    if (hidden.length > 0) await clear(organizationId, id);
  }

  return {
    async putDocument(organizationId, given, note, budget): Promise<PutDocumentOutcome> {
      const document = withinLimits(given);
      const { id } = document;
      const begun = await begin(organizationId, document, budget);
      if (typeof begun === 'string') return { outcome: begun };
      try {
        for (const part of partsOf(document.passages)) await writePart(organizationId, id, begun, part);
        const known = await show(organizationId, document, note);
        if (known === undefined) return { outcome: 'added', id };
        await clearIfPossible(organizationId, known.id);
        return { outcome: 'replaced', id: known.known_id };
      } catch (error) {
        await abandon(organizationId, id).catch(() => {});
        throw error;
      }
    },

    async removeDocument(organizationId, documentId, note) {
      const known = await database.transaction(async (runHere) => {
        await runHere(gate, [organizationId]);
        const [ready] = await runHere<ReadyRow>(findById, [organizationId, documentId]);
        if (ready === undefined) return undefined;
        await hide(runHere, organizationId, ready);
        await writeNote(runHere, time, organizationId, note);
        return ready;
      });
      if (known === undefined) return 'missing';
      await clearIfPossible(organizationId, known.id);
      return 'removed';
    },

    async sweepDocuments() {
      await run(abandonSilent, [...time.parameters(), abandonedAfterMs]);
      const left = await run<{ organization_id: OrganizationId; id: DocumentId }>(findRemoved, []);
      let removed = 0;
      for (const { organization_id: organizationId, id } of left) {
        removed += await clear(organizationId, id);
      }
      return removed;
    },
  };
}

/** The dot belongs to no term, so that one corpus's terms are never another's. */
export function scoped(corpus: number, term: string): string {
  return `${corpus}·${term}`;
}
