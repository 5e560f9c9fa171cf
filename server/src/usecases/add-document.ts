import type { Doer } from '../domain/audit.ts';
import { type DocumentText, UnreadableDocument } from '../domain/document.ts';
import { ServiceError } from '../domain/errors.ts';
import type { DocumentId, OrganizationId } from '../domain/id.ts';
import { auditNote } from './audit-note.ts';
import type { Context } from './context.ts';
import { organizationNotFound } from './find-organization.ts';

export interface DocumentFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Null: for every thread of the organization. */
  readonly accountId: string | null;
}

export interface AddedDocument {
  readonly id: DocumentId;
  readonly title: string;
  readonly passageCount: number;
  /** Whether it took the place of one of the same name. */
  readonly replaced: boolean;
}

/** Rejects with an `UnreadableDocument` that says why, and changes nothing then. */
export async function addDocument(
  context: Context,
  organizationId: OrganizationId,
  doer: Doer,
  { name, bytes, accountId }: DocumentFile,
): Promise<AddedDocument> {
  refuseLongNames(name, accountId);
  const { store, ids, library } = context;
  const { title, url, passages }: DocumentText = await library.read(name, bytes);
  // A passage is found by what stands above it, too.
  const terms = await library.termsOf(passages.map(({ heading, text }) => `${title}\n${heading}\n${text}`));
  const indexed = passages.map(({ heading, text }, index) => ({ heading, text, terms: terms[index] ?? [] }));
  const document = { id: ids.document(), accountId, name, title, url, passages: indexed };
  const detail = { name, accountId, passages: passages.length };
  const note = auditNote(context, doer, 'document.added', document.id, detail);
  const result = await store.putDocument(organizationId, document, note);
  if (result.outcome === 'organization-missing') throw organizationNotFound(organizationId);
  const replaced = result.outcome === 'replaced';
  return { id: result.id, title, passageCount: passages.length, replaced };
}

/** What an index of any engine takes, and no more than a thread's account may have. */
const nameLengthMax = 600;
const accountLengthMax = 600;

function refuseLongNames(name: string, accountId: string | null): void {
  if ([...name].length > nameLengthMax) {
    throw new UnreadableDocument(`has a path of more than ${nameLengthMax} characters`);
  }
  if (accountId !== null && [...accountId].length > accountLengthMax) {
    throw new ServiceError('INVALID_PARAMS', `An account has at most ${accountLengthMax} characters.`);
  }
}
