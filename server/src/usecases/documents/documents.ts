import {
  counted,
  formatBytes,
  inOneLine,
  visibleCharacter,
  withoutInvisible,
} from '../../../../runtime/src/pure/text.ts';
import { nextTurn } from '../../../../runtime/src/turns.ts';
import { type Document, type Library, type PassageText, UnreadableDocument } from '../../domain/document.ts';
import { invalid, notFound, organizationNotFound } from '../../domain/errors.ts';
import type { IdGenerator, OrganizationId } from '../../domain/id.ts';
import { limits as fixed, type Limits } from '../../domain/limits.ts';
import type { Store } from '../../storage/port/store.ts';
import { auditNote, type Change, missingIn, type UserChange } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';
import type { AuditLog } from '../organization/audit-log.ts';
import type { LimitPrompts } from '../organization/limit-prompts.ts';

interface DocumentFile {
  readonly name: string;
  readonly path: string;
  /** Null: available to every thread of the organization. */
  readonly accountId: string | null;
}

export interface AddedDocument extends Pick<Document, 'id' | 'title' | 'passageCount'> {
  readonly replaced: boolean;
}

interface DocumentNeeds {
  readonly store: Pick<
    Store,
    'putDocument' | 'findDocument' | 'listDocuments' | 'listPassages' | 'removeDocument' | 'sweepDocuments'
  >;
  readonly ids: Pick<IdGenerator, 'event' | 'document'>;
  readonly limits: Pick<Limits, 'organizationDocumentsMax' | 'organizationBytesMax'>;
  readonly library: Library;
  readonly audit: Pick<AuditLog, 'record'>;
  readonly limitPrompts: LimitPrompts;
  readonly authorize: Authorize;
}

export type Documents = ReturnType<typeof createDocuments>;

export function createDocuments(needs: DocumentNeeds) {
  const { store, ids, limits, library, audit, limitPrompts, authorize } = needs;
  return {
    formats: library.formats,
    search: library.search,
    add,
    list,
    pages,
    describeStorage,
    open,
    readPassages,
    remove,
    removeAll,
    sweep,
    testQuestion,
  };

  /** Rejects with an `UnreadableDocument` that gives the reason; nothing changes then. */
  async function add(
    { organizationId, initiator }: Change,
    { name: given, path, accountId }: DocumentFile,
  ): Promise<AddedDocument> {
    const name = withoutInvisible(given);
    if ([...name].length > nameLengthMax) {
      throw new UnreadableDocument(`has a path of more than ${nameLengthMax} characters`);
    }
    if (accountId !== null && [...accountId].length > nameLengthMax) {
      throw invalid(`An account id has at most ${nameLengthMax} characters.`);
    }
    if (Buffer.byteLength(name) + Buffer.byteLength(accountId ?? '') > keyBytesMax) {
      throw new UnreadableDocument(
        `has a path that takes more than ${counted(keyBytesMax, 'byte')} with the account id`,
      );
    }
    const read = await library.read(organizationId, name, path);
    const plainTitle = withoutInvisible(read.title).trim();
    const title = visibleCharacter.test(plainTitle) ? plainTitle : name;
    const document = { id: ids.document(), accountId, name, ...read, title };
    const passageCount = document.passages.length;
    const detail = { name, accountId, passages: passageCount };
    const note = auditNote(ids, initiator, 'document.added', document.id, detail);
    const { organizationDocumentsMax: documentsMax, organizationBytesMax: bytesMax } = limits;
    const budget = { documentsMax, bytesMax };
    const write = store.putDocument(organizationId, document, budget, note);
    const result = await authorize(note.authority, write);
    switch (result.outcome) {
      case 'organization-missing':
        throw organizationNotFound();
      case 'too-many-documents':
        throw overBudget(counted(documentsMax, 'document'));
      case 'too-many-bytes':
        throw overBudget(`${formatBytes(bytesMax)} of text`);
      default:
        return { id: result.id, title, passageCount, replaced: result.outcome === 'replaced' };
    }
  }

  /** For the operator: all documents in order of their names, and how much the organization stores and may store. */
  async function list(organizationId: OrganizationId) {
    const documents = await store.listDocuments(organizationId);
    const bytes = documents.reduce((sum, document) => sum + document.bytes, 0);
    return { documents, storage: describeStorage(documents.length, bytes) };
  }

  /** The documents in order of their names. Each page is read in a turn of its own: an organization may have thousands. */
  async function* pages(organizationId: OrganizationId) {
    for (let after: Document | undefined; ; ) {
      await nextTurn(organizationId);
      const page = await store.listDocuments(organizationId, { after, limit: documentsPerPage });
      yield page;
      if (page.length < documentsPerPage) return;
      after = page.at(-1);
    }
  }

  function describeStorage(documents: number, bytes: number) {
    return {
      documents,
      documentsMax: limits.organizationDocumentsMax,
      bytes,
      bytesMax: limits.organizationBytesMax,
    };
  }

  /**
   * The first headings with the positions of their first passages, from 0, and the position of the cited passage: null if
   * the document does not contain it. Every member may read documents. Reads in parts, so that no other request waits long.
   * `citedTexts`: words of the passage or of the reply that cites it, most precise first.
   */
  async function open(organizationId: OrganizationId, documentId: string, citedTexts: readonly string[]) {
    const document = await find(organizationId, documentId);
    // A source is one line that joins parts of a passage with ellipses: the first part is searched for.
    let wanted = citedTexts.map((text) => inOneLine(text).split('…')[0]!.trim()).filter(Boolean);
    let citedPosition: number | null = null;
    const headings: { heading: string; position: number }[] = [];
    let position = 0;
    let after = 0;
    for (;;) {
      const page = { after, limit: passagesPerRead };
      const passages = await store.listPassages(organizationId, documentId, page);
      for (const { heading, text } of passages) {
        const isNew = heading !== '' && heading !== headings.at(-1)?.heading;
        if (isNew && headings.length < headingsMax) headings.push({ heading, position });
        const line = wanted.length === 0 ? '' : inOneLine(text);
        const at = wanted.findIndex((part) => line.includes(part));
        if (at !== -1) {
          citedPosition = position;
          // From here on, only a more precise text counts.
          wanted = wanted.slice(0, at);
        }
        position += 1;
      }
      if (passages.length < passagesPerRead) break;
      after = passages.at(-1)!.number;
      await nextTurn(organizationId);
    }
    return { document, headings, citedPosition };
  }

  async function readPassages(
    organizationId: OrganizationId,
    documentId: string,
    page: { readonly skip: number; readonly limit: number },
  ): Promise<readonly PassageText[]> {
    const passages = await store.listPassages(organizationId, documentId, page);
    if (passages.length === 0) await find(organizationId, documentId);
    return passages;
  }

  /** New replies no longer use the document; replies that cite it stay unchanged. */
  async function remove(change: Change, documentId: string): Promise<void> {
    const removed = await removeIfPresent(change, documentId);
    if (removed === undefined) throw missingIn(change, `document ${documentId}`, 'doc');
  }

  /** Removes documents one by one until enough passages for one call are gone. `handled`: how many of the ids it has tried. */
  async function removeAll(
    change: Change,
    documentIds: readonly string[],
  ): Promise<{ handled: number; removed: number }> {
    let [handled, removed, passages] = [0, 0, 0];
    for (const documentId of documentIds) {
      if (passages >= removedPassagesMax) break;
      await nextTurn(change.organizationId);
      const document = await removeIfPresent(change, documentId);
      handled += 1;
      if (document !== undefined) removed += 1;
      passages += document?.passageCount ?? 0;
    }
    return { handled, removed };
  }

  /** Removes what interrupted writers of documents left behind. Returns the number of passages removed. */
  function sweep(): Promise<number> {
    return store.sweepDocuments();
  }

  /** The passages that a reply would use. Counts as a prompt of the console, unless the question was asked before. */
  async function testQuestion(
    { principal, initiator }: UserChange,
    search: Library['search'],
    tested: { question: string; accountId?: string; asked?: boolean },
  ) {
    if (!tested.asked) await limitPrompts(principal);
    const { organizationId } = principal;
    const { accountId = null } = tested;
    await audit.record({ organizationId, initiator }, 'question.tested', organizationId, { accountId });
    return search(organizationId, accountId, tested.question, passagesMax);
  }

  async function removeIfPresent(
    { organizationId, initiator }: Change,
    documentId: string,
  ): Promise<Document | undefined> {
    const document = await store.findDocument(organizationId, documentId);
    if (document === undefined) return undefined;
    const { id, name, accountId } = document;
    const note = auditNote(ids, initiator, 'document.removed', id, { name, accountId });
    const write = store.removeDocument(organizationId, id, note);
    const outcome = await authorize(note.authority, write);
    return outcome === 'removed' ? document : undefined;
  }

  async function find(organizationId: OrganizationId, documentId: string) {
    const document = await store.findDocument(organizationId, documentId);
    if (document === undefined) throw notFound('No such document.');
    return document;
  }
}

function overBudget(most: string): UnreadableDocument {
  return new UnreadableDocument(`exceeds the organization's limit of ${most}. Remove documents first`);
}

const nameLengthMax = fixed.documentNameLengthMax.default;
const keyBytesMax = fixed.documentKeyBytesMax.default;

/** A page takes about a millisecond of the event loop on SQLite. */
const documentsPerPage = 200;

/** A call ends with the document that reaches this number: as many as the largest document may have by default. */
const removedPassagesMax = fixed.documentPassagesMax.default;

const passagesMax = 5;

/** Limits what is sent: real documents have fewer. */
const headingsMax = 500;
/** On SQLite, the event loop reads this many passages in half a millisecond. */
const passagesPerRead = 100;
