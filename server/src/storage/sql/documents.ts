import { randomInt } from 'node:crypto';
import { type Document, type IndexedPassage, storableTitle, storableUrl } from '../../domain/document.ts';
import type { DocumentId, OrganizationId } from '../../domain/id.ts';
import { accountKey, accountOfKey } from '../port/listings.ts';
import type { AuditNote, DocumentBudget, Documents, NewDocument } from '../port/store.ts';
import { writeNote } from './audit.ts';
import { isAuthorized, unauthorized } from './authority.ts';
import { type Statement, sql, statement } from './sql.ts';
import { count, row, rows, run, type Transactions, type Work } from './work.ts';

/** One commit writes or removes at most this many passages: 3 ms of the event loop on SQLite, with 150 words in each. */
export const passagesPerCommit = 10;

/** A document that is being written and has not grown for this long belongs to a process that has died. */
const abandonedAfterMs = 60_000;

/** What the databases do differently, each with its own index of terms. */
export interface PassageIndex {
  /** Returns a row if the organization exists, and serializes changes of its set of documents until the commit. */
  readonly lockDocuments: Statement;
  /** Runs work that writes or removes at most `passagesPerCommit` passages, in one commit. It need not survive a power cut. */
  commitPart<T>(work: () => Work<T>): Promise<T>;
  /** Returns false if the document is no longer being written. */
  insertPassages(
    organizationId: OrganizationId,
    id: DocumentId,
    corpus: number,
    part: readonly IndexedPassage[],
  ): Work<boolean>;
}

/** A term as it is indexed. No term contains the dot, so that the terms of two corpora never coincide. */
export function scoped(corpus: number, term: string): string {
  return `${corpus}·${term}`;
}

export function scopedTerms(corpus: number, terms: readonly string[]): string {
  return terms.map((term) => scoped(corpus, term)).join(' ');
}

/** `storedId` is the id of its rows. A document that replaced another is known by the other's id. */
type DocumentRow = Omit<Document, 'accountId'> & { accountKey: string; storedId: DocumentId };

const documentColumns = sql`id AS "storedId", coalesce(kept_id, id) AS id, account_key AS "accountKey", name, title, url,
  passages AS "passageCount", bytes, added_at AS "addedAt"`;
const selectDocuments = sql`SELECT ${documentColumns}
  FROM document WHERE organization_id = :organizationId AND state = 'ready'`;
const list = statement('list-documents')`${selectDocuments}
  AND (name, account_key) > (:afterName, :afterAccountKey) ORDER BY name, account_key LIMIT :limit`;
const find = statement('find-document')`${selectDocuments} AND coalesce(kept_id, id) = :documentId`;
const findByName = statement('find-document-by-name')`
  ${selectDocuments} AND account_key = :accountKey AND name = :name`;
const readTaken = statement('read-document-budget')`
  SELECT count(*) AS documents, CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes FROM document
  WHERE organization_id = :organizationId AND state <> 'removed' AND id <> :replacedId`;
const insert = statement('insert-document')`
  INSERT INTO document (organization_id, id, account_key, name, title, url, passages, bytes, added_at, state)
  VALUES (:organizationId, :id, :accountKey, :name, :title, :url, :passages, :bytes, :now, 'writing')`;
const show = statement('show-document')`
  UPDATE document SET state = 'ready', added_at = :now, kept_id = :keptId
  WHERE organization_id = :organizationId AND id = :id AND state = 'writing' RETURNING id`;
const hide = statement('hide-document')`UPDATE document SET state = 'removed'
  WHERE organization_id = :organizationId AND id = :id AND state = :state RETURNING id`;
const growCorpus = statement('grow-corpus')`
  INSERT INTO corpus (organization_id, account_key, passages, stamp)
  VALUES (:organizationId, :accountKey, :passages, :stamp)
  ON CONFLICT (organization_id, account_key)
    DO UPDATE SET passages = corpus.passages + excluded.passages, stamp = excluded.stamp
  RETURNING number`;
const remove = statement('delete-document')`
  DELETE FROM document WHERE organization_id = :organizationId AND id = :id`;
const deletePassages = statement('delete-passages')`DELETE FROM passage
  WHERE organization_id = :organizationId AND number IN (
    SELECT number FROM passage WHERE organization_id = :organizationId AND document_id = :id LIMIT ${passagesPerCommit})
  RETURNING number`;
// `state <> 'ready'` is the condition of the index that these two statements use.
const abandonSilent = statement('abandon-silent-documents')`UPDATE document SET state = 'removed'
  WHERE state <> 'ready' AND state = 'writing' AND added_at < :now - ${abandonedAfterMs}`;
const findRemoved = statement('find-removed-documents')`
  SELECT organization_id AS "organizationId", id FROM document WHERE state <> 'ready' AND state = 'removed'`;
const listPassages = statement('list-passages')`SELECT number, heading, text FROM passage
  WHERE organization_id = :organizationId AND number > :after AND document_id = (
    SELECT id FROM document
    WHERE organization_id = :organizationId AND coalesce(kept_id, id) = :documentId AND state = 'ready')
  ORDER BY number LIMIT :limit OFFSET :skip`;

const findWithoutQuestions = statement('find-document-without-questions')`
  SELECT organization_id AS "organizationId", id FROM document WHERE questions IS NULL AND state = 'ready' LIMIT 1`;
const claimForQuestions = statement('claim-document-for-questions')`UPDATE document SET questions = '[]'
  WHERE organization_id = :organizationId AND id = :id AND questions IS NULL AND state = 'ready'
  RETURNING organization_id AS "organizationId", ${documentColumns}`;
const setQuestions = statement('set-document-questions')`UPDATE document SET questions = :questions
  WHERE organization_id = :organizationId AND coalesce(kept_id, id) = :id AND added_at = :addedAt AND state = 'ready'`;
// The key of an account sorts after that of the general documents, which is empty.
const listQuestions = statement('list-document-questions')`SELECT questions FROM document
  WHERE organization_id = :organizationId AND account_key IN ('', :accountKey) AND state = 'ready'
    AND questions <> '[]'
  ORDER BY account_key DESC, name LIMIT :limit`;

/** The largest range of `randomInt`. */
const stampMax = 2 ** 48 - 1;

/** Adds to the passages of a corpus, creates it if needed, and returns its number. */
function* grow(organizationId: OrganizationId, accountKey: string, passages: number): Work<number> {
  const values = { organizationId, accountKey, passages, stamp: randomInt(stampMax) };
  return (yield* row<{ number: number }>(growCorpus, values))!.number;
}

function* hideReady(organizationId: OrganizationId, document: DocumentRow): Work<void> {
  yield* run(hide, { organizationId, id: document.storedId, state: 'ready' });
  yield* grow(organizationId, document.accountKey, -document.passageCount);
}

/** Writes and removes documents in several commits: see `putDocument` in the port. */
export function documents(
  { read, write, writeOne }: Transactions,
  { lockDocuments, commitPart, insertPassages }: PassageIndex,
): Omit<Documents, 'outlineDocuments' | 'findPassages' | 'readPassages'> {
  /** Returns the number of its corpus, or why it may not be added. */
  function* start(
    organizationId: OrganizationId,
    document: NewDocument,
    budget: DocumentBudget,
    { authority }: AuditNote,
  ) {
    if (!(yield* isAuthorized(organizationId, authority))) return unauthorized;
    if ((yield* count(lockDocuments, { organizationId })) === 0) return 'organization-missing';
    const values = { ...document, organizationId, accountKey: accountKey(document.accountId) };
    const replaced = yield* row<DocumentRow>(findByName, values);
    type Taken = Record<'documents' | 'bytes', number>;
    const taken = (yield* row<Taken>(readTaken, { organizationId, replacedId: replaced?.storedId ?? '' }))!;
    if (taken.documents + 1 > budget.documentsMax) return 'too-many-documents';
    if (taken.bytes + document.bytes > budget.bytesMax) return 'too-many-bytes';
    yield* run(insert, { ...values, passages: document.passages.length });
    return yield* grow(organizationId, values.accountKey, 0);
  }

  /** Makes the document visible in place of one with the same name, which it returns. */
  function* showInstead(organizationId: OrganizationId, document: NewDocument, note: AuditNote) {
    if (!(yield* isAuthorized(organizationId, note.authority))) return unauthorized;
    yield* run(lockDocuments, { organizationId });
    const values = { ...document, organizationId, accountKey: accountKey(document.accountId) };
    const replaced = yield* row<DocumentRow>(findByName, values);
    if (replaced !== undefined) yield* hideReady(organizationId, replaced);
    const keptId = replaced?.id ?? null;
    if ((yield* count(show, { ...values, keptId })) === 0) throw abandoned(document.id);
    yield* grow(organizationId, values.accountKey, document.passages.length);
    const replacing = keptId !== null && ({ action: 'document.replaced', subject: keptId } as const);
    yield* writeNote(organizationId, { ...note, ...replacing });
    return replaced;
  }

  /** Deletes a document that is no longer visible. Returns the number of its passages. */
  async function clear(organizationId: OrganizationId, id: DocumentId): Promise<number> {
    let removed = 0;
    let passages: number;
    do {
      passages = await commitPart(() => count(deletePassages, { organizationId, id }));
      removed += passages;
    } while (passages === passagesPerCommit);
    await writeOne(remove, { organizationId, id });
    return removed;
  }

  /** For failures that leave the rest to `sweepDocuments`. */
  const leaveToSweep = () => {};

  /** Keeps the document if it is ready: its commit may have succeeded although it was reported as failed. */
  async function giveUp(organizationId: OrganizationId, id: DocumentId): Promise<void> {
    const hidden = await writeOne(hide, { organizationId, id, state: 'writing' });
    if (hidden.length > 0) await clear(organizationId, id);
  }

  return {
    async putDocument(organizationId, { title, url, ...given }, budget, note) {
      const document = { ...given, title: storableTitle(title), url: storableUrl(url) };
      const { id, passages } = document;
      try {
        const corpus = await write(() => start(organizationId, document, budget, note));
        if (corpus === unauthorized) return unauthorized;
        if (typeof corpus === 'string') return { outcome: corpus };
        for (let from = 0; from < passages.length; from += passagesPerCommit) {
          const part = passages.slice(from, from + passagesPerCommit);
          const written = await commitPart(() => insertPassages(organizationId, id, corpus, part));
          if (!written) throw abandoned(id);
        }
        // On SQLite, the sync of this commit also makes the earlier ones durable.
        const replaced = await write(() => showInstead(organizationId, document, note));
        if (replaced === unauthorized) {
          await giveUp(organizationId, id).catch(leaveToSweep);
          return unauthorized;
        }
        if (replaced === undefined) return { outcome: 'added', id };
        await clear(organizationId, replaced.storedId).catch(leaveToSweep);
        return { outcome: 'replaced', id: replaced.id };
      } catch (error) {
        await giveUp(organizationId, id).catch(leaveToSweep);
        // If the authority has ended, for example because of a purge, that is the outcome to report.
        if (!(await read(() => isAuthorized(organizationId, note.authority)))) return unauthorized;
        throw error;
      }
    },

    async removeDocument(organizationId, documentId, note) {
      const removed = await write(function* () {
        if (!(yield* isAuthorized(organizationId, note.authority))) return unauthorized;
        yield* run(lockDocuments, { organizationId });
        const found = yield* row<DocumentRow>(find, { organizationId, documentId });
        if (found === undefined) return undefined;
        yield* hideReady(organizationId, found);
        yield* writeNote(organizationId, note);
        return found;
      });
      if (removed === unauthorized) return unauthorized;
      if (removed === undefined) return 'missing';
      await clear(organizationId, removed.storedId).catch(leaveToSweep);
      return 'removed';
    },

    async sweepDocuments() {
      await writeOne(abandonSilent, {});
      type Removed = { organizationId: OrganizationId; id: DocumentId };
      let passages = 0;
      for (const { organizationId, id } of await read(() => rows<Removed>(findRemoved)))
        passages += await clear(organizationId, id);
      return passages;
    },

    async listDocuments(organizationId, { after, limit = Number.MAX_SAFE_INTEGER } = {}) {
      const [afterName, afterAccountKey] = [after?.name ?? '', accountKey(after?.accountId)];
      const values = { organizationId, afterName, afterAccountKey, limit };
      return (await read(() => rows<DocumentRow>(list, values))).map(toDocument);
    },

    async findDocument(organizationId, documentId) {
      const found = await read(() => row<DocumentRow>(find, { organizationId, documentId }));
      return found && toDocument(found);
    },

    async claimDocumentForQuestions() {
      type Found = { organizationId: OrganizationId; id: DocumentId };
      const found = await read(() => row<Found>(findWithoutQuestions));
      if (found === undefined) return undefined;
      const [claimed] = await writeOne<DocumentRow & Found>(claimForQuestions, { ...found });
      return claimed && { ...toDocument(claimed), organizationId: claimed.organizationId };
    },

    async setDocumentQuestions(organizationId, { id, addedAt }, questions) {
      const value = questions && JSON.stringify(questions);
      await writeOne(setQuestions, { organizationId, id, addedAt, questions: value });
    },

    async listDocumentQuestions(organizationId, accountId, limit) {
      const values = { organizationId, accountKey: accountKey(accountId), limit };
      const found = await read(() => rows<{ questions: string }>(listQuestions, values));
      return found.map(({ questions }) => JSON.parse(questions) as string[]);
    },

    listPassages: (organizationId, documentId, { after = 0, skip = 0, limit }) =>
      read(() => rows(listPassages, { organizationId, documentId, after, skip, limit })),
  };
}

function toDocument({ accountKey, storedId: _, ...document }: DocumentRow): Document {
  return { ...document, accountId: accountOfKey(accountKey) };
}

/** For a writer that paused for so long that its document was removed. */
function abandoned(id: DocumentId): Error {
  return new Error(`the document ${id} was removed as abandoned while it was being written`);
}
