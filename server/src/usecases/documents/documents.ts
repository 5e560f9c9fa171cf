import { counted, inOneLine, visibleCharacter, withoutInvisible } from '../../../../runtime/src/pure/text.ts';
import { nextTurn } from '../../../../runtime/src/turns.ts';
import {
  type Document,
  type DocumentHeadings,
  type Library,
  type PassageText,
  UnreadableDocument,
} from '../../domain/document.ts';
import { invalid, notFound, organizationNotFound } from '../../domain/errors.ts';
import { limits as fixed, formatBytes } from '../../domain/limits.ts';
import { authorize } from '../authorize.ts';
import type { Context, OrganizationCall } from '../context.ts';
import { auditNote, type Change, missingIn, type UserChange } from '../organization/audit-log.ts';
import { limitPrompts } from '../organization/limit-prompts.ts';
import { recordAction } from '../organization/record-action.ts';

interface DocumentFile {
  readonly name: string;
  readonly path: string;
  /** Null: available to every thread of the organization. */
  readonly accountId: string | null;
}

export interface AddedDocument extends Pick<Document, 'id' | 'title' | 'passageCount'> {
  readonly replaced: boolean;
}

/** Rejects with an `UnreadableDocument` that gives the reason; nothing changes then. */
export async function addDocument(
  change: Change,
  { name: given, path, accountId }: DocumentFile,
): Promise<AddedDocument> {
  const { context, organizationId } = change;
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
  const { store, ids, library, limits } = context;
  const read = await library.read(organizationId, name, path);
  const plainTitle = withoutInvisible(read.title).trim();
  const title = visibleCharacter.test(plainTitle) ? plainTitle : name;
  const document = { id: ids.document(), accountId, name, ...read, title };
  const passageCount = document.passages.length;
  const detail = { name, accountId, passages: passageCount };
  const note = auditNote(change, 'document.added', document.id, detail);
  const { organizationDocumentsMax: documentsMax, organizationBytesMax: bytesMax } = limits;
  const budget = { documentsMax, bytesMax };
  const write = store.putDocument(organizationId, document, budget, note);
  const result = await authorize(context, note.authority, write);
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

/** Removes what interrupted writers of documents left behind. Returns the number of passages removed. */
export function sweepDocuments({ store }: Context): Promise<number> {
  return store.sweepDocuments();
}

function overBudget(most: string): UnreadableDocument {
  return new UnreadableDocument(`exceeds the organization's limit of ${most}. Remove documents first`);
}

const nameLengthMax = fixed.documentNameLengthMax.default;
const keyBytesMax = fixed.documentKeyBytesMax.default;

/** A page takes about a millisecond of the event loop on SQLite. */
const documentsPerPage = 200;

/** The documents in order of their names. Each page is read in a turn of its own: an organization may have thousands. */
export async function* documentPages({ context: { store }, organizationId }: OrganizationCall) {
  for (let after: Document | undefined; ; ) {
    await nextTurn(organizationId);
    const page = await store.listDocuments(organizationId, { after, limit: documentsPerPage });
    yield page;
    if (page.length < documentsPerPage) return;
    after = page.at(-1);
  }
}

export function documentStorage({ limits }: Context, documents: number, bytes: number) {
  return {
    documents,
    documentsMax: limits.organizationDocumentsMax,
    bytes,
    bytesMax: limits.organizationBytesMax,
  };
}

/** For the operator: all documents in order of their names, and how much the organization stores and may store. */
export async function listDocuments({ context, organizationId }: OrganizationCall) {
  const documents = await context.store.listDocuments(organizationId);
  const bytes = documents.reduce((sum, document) => sum + document.bytes, 0);
  return { documents, storage: documentStorage(context, documents.length, bytes) };
}

/** New replies no longer use the document; replies that cite it stay unchanged. */
export async function removeDocument(change: Change, documentId: string): Promise<void> {
  const removed = await removeIfPresent(change, documentId);
  if (removed === undefined) throw missingIn(change, `document ${documentId}`, 'doc');
}

/** A call ends with the document that reaches this number: as many as the largest document may have by default. */
const removedPassagesMax = fixed.documentPassagesMax.default;

/** Removes documents one by one until enough passages for one call are gone. `handled`: how many of the ids it has tried. */
export async function removeDocuments(
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

async function removeIfPresent(change: Change, documentId: string): Promise<Document | undefined> {
  const { context, organizationId } = change;
  const document = await context.store.findDocument(organizationId, documentId);
  if (document === undefined) return undefined;
  const { id, name, accountId } = document;
  const note = auditNote(change, 'document.removed', id, { name, accountId });
  const write = context.store.removeDocument(organizationId, id, note);
  const outcome = await authorize(context, note.authority, write);
  return outcome === 'removed' ? document : undefined;
}

const passagesMax = 5;

/** The passages that a reply would use. Counts as a prompt of the console, unless the question was asked before. */
export async function testQuestion(
  call: UserChange,
  search: Library['search'],
  tested: { question: string; accountId?: string; asked?: boolean },
) {
  if (!tested.asked) await limitPrompts(call);
  const { organizationId } = call.principal;
  const { accountId = null } = tested;
  await recordAction({ ...call, organizationId }, 'question.tested', organizationId, { accountId });
  return search(organizationId, accountId, tested.question, passagesMax);
}

/** Limits what is sent: real documents have fewer. */
const headingsMax = 500;
/** On SQLite, the event loop reads this many passages in half a millisecond. */
const passagesPerRead = 100;

/**
 * The first headings with the positions of their first passages, from 0, and the position of the cited passage: null if
 * the document does not contain it. Every member may read documents. Reads in parts, so that no other request waits long.
 * `citedTexts`: words of the passage or of the reply that cites it, most precise first.
 */
export async function openDocument(
  call: OrganizationCall,
  documentId: string,
  citedTexts: readonly string[],
) {
  const { context, organizationId } = call;
  const document = await findDocument(call, documentId);
  // A source is one line that joins parts of a passage with ellipses: the first part is searched for.
  let wanted = citedTexts.map((text) => inOneLine(text).split('…')[0]!.trim()).filter(Boolean);
  let citedPosition: number | null = null;
  const headings: { heading: string; position: number }[] = [];
  let position = 0;
  let after = 0;
  for (;;) {
    const page = { after, limit: passagesPerRead };
    const passages = await context.store.listPassages(organizationId, documentId, page);
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

export async function readPassages(
  call: OrganizationCall,
  documentId: string,
  page: { readonly skip: number; readonly limit: number },
): Promise<readonly PassageText[]> {
  const passages = await call.context.store.listPassages(call.organizationId, documentId, page);
  if (passages.length === 0) await findDocument(call, documentId);
  return passages;
}

async function findDocument({ context, organizationId }: OrganizationCall, documentId: string) {
  const document = await context.store.findDocument(organizationId, documentId);
  if (document === undefined) throw notFound('No such document.');
  return document;
}

/** Returns questions that the document answers. Each was asked to make sure. */
export type SuggestQuestions = (
  document: DocumentHeadings,
  signal: AbortSignal,
) => Promise<readonly string[]>;

/** Questions are suggested by the headings of this many passages. */
const passagesRead = 100;
const documentsRead = 12;
const examplesMax = 4;

/** Makes the questions of documents that were added since the last call. A document that fails is not tried again. */
export async function makeExampleQuestions(
  { store }: Context,
  suggest: SuggestQuestions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const document = await store.claimDocumentForQuestions();
    if (document === undefined) return;
    const { organizationId, id } = document;
    const passages = await store.listPassages(organizationId, id, { limit: passagesRead });
    const headings = passages.map(({ heading }) => heading).filter(Boolean);
    const suggested = suggest({ ...document, headings }, signal);
    const questions = await suggested.catch((error) => {
      // A stop is not the document's fault: the next start tries it again.
      if (signal.aborted) return null;
      throw error;
    });
    if (questions?.length !== 0) await store.setDocumentQuestions(organizationId, document, questions);
  }
}

/** Questions that the documents answer, of different documents where possible. The account's documents come first. */
export async function listExampleQuestions(
  { context: { store }, organizationId }: OrganizationCall,
  accountId: string | null,
): Promise<string[]> {
  const found = await store.listDocumentQuestions(organizationId, accountId, documentsRead);
  const rounds = Math.max(0, ...found.map((questions) => questions.length));
  const inTurn = Array.from({ length: rounds }, (_, round) =>
    found.flatMap((questions) => questions[round] ?? []),
  );
  return [...new Set(inTurn.flat())].slice(0, examplesMax);
}
