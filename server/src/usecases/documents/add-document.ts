import type { Initiator } from '../../domain/audit.ts';
import { type FileSource, UnreadableDocument } from '../../domain/document.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { DocumentId, OrganizationId } from '../../domain/id.ts';
import { limits as fixed, formatBytes, type Limits } from '../../domain/limits.ts';
import type { DocumentBudget } from '../../storage/store.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { organizationNotFound } from '../organization/organization.ts';

export interface DocumentFile {
  readonly name: string;
  readonly source: FileSource;
  /** Null: available to every thread of the organization. */
  readonly accountId: string | null;
}

export interface AddedDocument {
  readonly id: DocumentId;
  readonly title: string;
  readonly passageCount: number;
  /** Whether it replaced a document of the same name. */
  readonly replaced: boolean;
}

/** Rejects with an `UnreadableDocument` that gives the reason; nothing changes then. */
export async function addDocument(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  { name, source, accountId }: DocumentFile,
): Promise<AddedDocument> {
  rejectLongNames(name, accountId);
  const { store, ids, library, limits } = context;
  const read = await library.read(organizationId, name, source);
  const document = { id: ids.document(), accountId, name, ...read };
  const { title } = document;
  const passageCount = document.passages.length;
  const detail = { name, accountId, passages: passageCount };
  const added = auditNote(context, initiator, 'document.added', document.id, detail);
  const note = { ...added, replacedAction: 'document.replaced' } as const;
  const result = await store.putDocument(organizationId, document, note, budgetOf(limits));
  switch (result.outcome) {
    case 'organization-missing':
      throw organizationNotFound(organizationId);
    case 'too-many-documents':
    case 'too-many-bytes':
      throw overBudget(limits, result.outcome);
    default:
      return { id: result.id, title, passageCount, replaced: result.outcome === 'replaced' };
  }
}

/** Removes what interrupted writers of documents left behind. Returns the number of passages removed. */
export function removeUnfinishedDocuments({ store }: Context): Promise<number> {
  return store.sweepDocuments();
}

function budgetOf({ organizationDocumentsMax, organizationBytesMax }: Limits): DocumentBudget {
  return { documentsMax: organizationDocumentsMax, bytesMax: organizationBytesMax };
}

function overBudget(limits: Limits, outcome: 'too-many-documents' | 'too-many-bytes'): UnreadableDocument {
  const { organizationDocumentsMax, organizationBytesMax } = limits;
  const most =
    outcome === 'too-many-documents'
      ? `${organizationDocumentsMax.toLocaleString('en')} documents`
      : `${formatBytes(organizationBytesMax)} of text`;
  return new UnreadableDocument(`does not fit: the organization may store ${most}. Remove documents first`);
}

/** Fits into an index key of either store. */
const nameLengthMax = fixed.documentNameLengthMax.default;

function rejectLongNames(name: string, accountId: string | null): void {
  if ([...name].length > nameLengthMax) {
    throw new UnreadableDocument(`has a path of more than ${nameLengthMax} characters`);
  }
  if (accountId !== null && [...accountId].length > nameLengthMax) {
    throw new ServiceError('INVALID_PARAMS', `An account id has at most ${nameLengthMax} characters.`);
  }
}
