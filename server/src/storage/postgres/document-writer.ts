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
import type { DocumentBudget, DocumentNote, Documents, NewDocument, PutDocumentOutcome } from '../store.ts';
import { writeNote } from './audit.ts';
import type { Database, Run } from './database.ts';
import { type Sql, sql, statement } from './sql.ts';
import { now } from './store-time.ts';

interface ReadyRow {
  /** The id of its rows. A document that replaced another is known by the other's id. */
  id: DocumentId;
  knownId: DocumentId;
  accountKey: string;
  passages: number;
}

// Serializes changes of an organization's set of documents: names stay unique, counts and budget correct. It is not the lock
// of the organization's row, because creating threads must not wait for it.
const lockDocuments = statement('lock-documents')`
  SELECT id, pg_advisory_xact_lock(hashtextextended('skein documents ' || id, 0)) FROM organization
  WHERE id = :organizationId`;
const selectReady = (condition: Sql) => sql`
  SELECT id, coalesce(kept_id, id) AS "knownId", account_key AS "accountKey", passages FROM document
  WHERE organization_id = :organizationId AND ${condition} AND state = 'ready'`;
const findByName = statement('find-document-by-name')`
  ${selectReady(sql`account_key = :accountKey AND name = :name`)}`;
const findById = statement('find-document-by-id')`${selectReady(sql`coalesce(kept_id, id) = :documentId`)}`;
const readTaken = statement('find-document-budget-taken')`
  SELECT count(*) AS documents, coalesce(sum(bytes), 0)::bigint AS bytes FROM document
  WHERE organization_id = :organizationId AND state <> 'removed' AND id <> :replacedId`;
const insertDocument = statement('insert-document')`
  INSERT INTO document (organization_id, id, account_key, name, title, url, passages, bytes, added_at, state)
  VALUES (:organizationId, :id, :accountKey, :name, :title, :url, :passages, :bytes, ${now}, 'writing')`;
const insertPassages = statement('insert-passages')`WITH held AS (
    UPDATE document SET added_at = ${now}
    WHERE organization_id = :organizationId AND id = :id AND state = 'writing' RETURNING organization_id, id)
  INSERT INTO passage (organization_id, number, document_id, heading, text, terms)
  SELECT held.organization_id, nextval('passage_number'), held.id, heading, passage,
    array_to_tsvector(string_to_array(terms, ' '))
  FROM held, unnest(:headings::text[], :texts::text[], :terms::text[])
    WITH ORDINALITY AS part (heading, passage, terms, place)
  ORDER BY place RETURNING number`;
const showDocument = statement('show-document')`UPDATE document
  SET state = 'ready', added_at = ${now}, kept_id = :keptId
  WHERE organization_id = :organizationId AND id = :id AND state = 'writing' RETURNING id`;
const hideDocument = statement('hide-document')`
  UPDATE document SET state = 'removed' WHERE organization_id = :organizationId AND id = :id`;
const deletePassages = statement('delete-passages')`DELETE FROM passage
  WHERE organization_id = :organizationId AND number IN (
    SELECT number FROM passage WHERE organization_id = :organizationId AND document_id = :id LIMIT ${passagesPerCommit})
  RETURNING number`;
const deleteDocument = statement('delete-document')`
  DELETE FROM document WHERE organization_id = :organizationId AND id = :id`;
const growCorpus = statement(
  'grow-corpus',
)`INSERT INTO corpus (organization_id, account_key, number, passages)
  VALUES (:organizationId, :accountKey, nextval('corpus_number'), :passages)
  ON CONFLICT (organization_id, account_key) DO UPDATE SET passages = corpus.passages + excluded.passages
  RETURNING number`;
const abandonDocument = statement('abandon-document')`UPDATE document SET state = 'removed'
  WHERE organization_id = :organizationId AND id = :id AND state = 'writing' RETURNING id`;
const abandonSilent = statement('abandon-silent-documents')`UPDATE document SET state = 'removed'
  WHERE state <> 'ready' AND state = 'writing' AND added_at < ${now} - ${abandonedAfterMs}`;
const findRemoved = statement(
  'find-removed-documents',
)`SELECT organization_id AS "organizationId", id FROM document
  WHERE state <> 'ready' AND state = 'removed'`;

/** Writes and removes documents in several commits: see `putDocument` in the port. */
export function postgresDocumentWriter(
  database: Database,
): Pick<Documents, 'putDocument' | 'removeDocument' | 'sweepDocuments'> {
  const { run, time } = database;

  /** Returns the number of its corpus, or why it may not be added. */
  function startDocument(organizationId: OrganizationId, document: NewDocument, budget: DocumentBudget) {
    return database.transaction(async (runHere) => {
      if ((await runHere(lockDocuments, { organizationId })).length === 0) return 'organization-missing';
      const replaced = await findSameName(runHere, organizationId, document);
      const [taken] = await runHere<{ documents: number; bytes: number }>(readTaken, {
        organizationId,
        replacedId: replaced?.id ?? '',
      });
      const fault = budgetFault(budget, taken!, document);
      if (fault !== undefined) return fault;
      const key = accountKey(document.accountId);
      const passages = document.passages.length;
      await runHere(insertDocument, { ...document, organizationId, accountKey: key, passages });
      return grow(runHere, organizationId, key, 0);
    });
  }

  async function writePart(
    organizationId: OrganizationId,
    id: DocumentId,
    corpus: number,
    part: readonly IndexedPassage[],
  ): Promise<void> {
    const written = await run(insertPassages, {
      organizationId,
      id,
      headings: part.map(({ heading }) => heading),
      texts: part.map(({ text }) => text),
      terms: part.map(({ terms }) => terms.map((term) => scoped(corpus, term)).join(' ')),
    });
    if (written.length < part.length) throw abandoned(id);
  }

  /** Makes the document visible in place of one with the same name, which it returns. */
  function show(organizationId: OrganizationId, document: NewDocument, note: DocumentNote) {
    return database.transaction(async (runHere) => {
      await runHere(lockDocuments, { organizationId });
      const { id, passages } = document;
      const replaced = await findSameName(runHere, organizationId, document);
      if (replaced !== undefined) await hide(runHere, organizationId, replaced);
      const keptId = replaced?.knownId ?? null;
      const shown = await runHere(showDocument, { organizationId, id, keptId });
      if (shown.length === 0) throw abandoned(id);
      await grow(runHere, organizationId, accountKey(document.accountId), passages.length);
      await writeNote(runHere, time, organizationId, noteOf(note, keptId));
      return replaced;
    });
  }

  /** Deletes a document that is no longer visible. Returns the number of its passages. */
  async function clear(organizationId: OrganizationId, id: DocumentId): Promise<number> {
    let removed = 0;
    for (;;) {
      const { length } = await run(deletePassages, { organizationId, id });
      removed += length;
      if (length < passagesPerCommit) break;
    }
    await run(deleteDocument, { organizationId, id });
    return removed;
  }

  /** Leaves the rest to `sweepDocuments` if it fails. */
  async function clearIfPossible(organizationId: OrganizationId, id: DocumentId): Promise<void> {
    await clear(organizationId, id).catch(() => {});
  }

  /** Keeps the document if it is ready: its commit may have succeeded although the connection broke before the answer. */
  async function abandon(organizationId: OrganizationId, id: DocumentId): Promise<void> {
    const hidden = await run(abandonDocument, { organizationId, id });
    if (hidden.length > 0) await clear(organizationId, id);
  }

  return {
    async putDocument(organizationId, given, note, budget): Promise<PutDocumentOutcome> {
      const document = withinLimits(given);
      const { id } = document;
      const corpus = await startDocument(organizationId, document, budget);
      if (typeof corpus === 'string') return { outcome: corpus };
      try {
        for (const part of partsOf(document.passages)) await writePart(organizationId, id, corpus, part);
        const replaced = await show(organizationId, document, note);
        if (replaced === undefined) return { outcome: 'added', id };
        await clearIfPossible(organizationId, replaced.id);
        return { outcome: 'replaced', id: replaced.knownId };
      } catch (error) {
        await abandon(organizationId, id).catch(() => {});
        throw error;
      }
    },

    async removeDocument(organizationId, documentId, note) {
      const removed = await database.transaction(async (runHere) => {
        await runHere(lockDocuments, { organizationId });
        const [ready] = await runHere<ReadyRow>(findById, { organizationId, documentId });
        if (ready === undefined) return undefined;
        await hide(runHere, organizationId, ready);
        await writeNote(runHere, time, organizationId, note);
        return ready;
      });
      if (removed === undefined) return 'missing';
      await clearIfPossible(organizationId, removed.id);
      return 'removed';
    },

    async sweepDocuments() {
      await run(abandonSilent);
      const removed = await run<{ organizationId: OrganizationId; id: DocumentId }>(findRemoved);
      let passages = 0;
      for (const { organizationId, id } of removed) passages += await clear(organizationId, id);
      return passages;
    },
  };
}

async function findSameName(run: Run, organizationId: OrganizationId, { accountId, name }: NewDocument) {
  const values = { organizationId, accountKey: accountKey(accountId), name };
  return (await run<ReadyRow>(findByName, values))[0];
}

async function hide(run: Run, organizationId: OrganizationId, { id, accountKey, passages }: ReadyRow) {
  await run(hideDocument, { organizationId, id });
  await grow(run, organizationId, accountKey, -passages);
}

/** Changes the number of passages of a corpus, creating it if needed, and returns the corpus's own number. */
async function grow(run: Run, organizationId: OrganizationId, accountKey: string, passages: number) {
  const [corpus] = await run<{ number: number }>(growCorpus, { organizationId, accountKey, passages });
  return corpus!.number;
}
