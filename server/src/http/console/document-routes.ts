import { Type } from 'typebox';
import { type Document, documentEndings, UnreadableDocument } from '../../domain/document.ts';
import { ServiceError } from '../../domain/errors.ts';
import { iso } from '../../domain/iso-time.ts';
import { addDocument } from '../../usecases/documents/add-document.ts';
import { listDocuments } from '../../usecases/documents/list-documents.ts';
import { removeDocument } from '../../usecases/documents/remove-document.ts';
import type { AddedDocumentJson, DocumentJson, DocumentsJson } from './contract.ts';
import type { ConsoleOptions } from './options.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { settingPath } from './setting-schemas.ts';

export function documentRoutes({ limits }: ConsoleOptions): readonly ConsoleRoute[] {
  const list = defineConsoleRoute({
    method: 'GET',
    url: '/documents',
    caller: 'member',
    async handle({ context, principal }) {
      const { documents, storage } = await listDocuments(context, principal.organizationId);
      const body: DocumentsJson = {
        documents: documents.map(presentDocument),
        storage,
        endings: documentEndings,
      };
      return { body };
    },
  });

  const add = defineConsoleRoute({
    method: 'POST',
    url: '/documents',
    caller: 'admin',
    query: Type.Object({
      name: Type.String({ format: 'text', minLength: 1 }),
      accountId: Type.Optional(
        Type.String({ format: 'text', minLength: 1, maxLength: limits.linkLengthMax }),
      ),
    }),
    takesFile: true,
    async handle({ context, principal, initiator, query: { name, accountId = null }, body }) {
      const path = body as unknown as string | undefined;
      // No body at all is a file without a byte: the reader says so.
      const source = path === undefined ? { bytes: new Uint8Array() } : { path };
      const { id, title, passageCount, replaced } = await addDocument(
        context,
        principal.organizationId,
        initiator,
        { name, source, accountId },
      ).catch((error: unknown) => {
        throw error instanceof UnreadableDocument ? unreadable(name, error) : error;
      });
      return {
        status: 201,
        body: { id, title, passages: passageCount, replaced } satisfies AddedDocumentJson,
      };
    },
  });

  return [list, add, remove];
}

const remove = defineConsoleRoute({
  method: 'DELETE',
  url: '/documents/:id',
  caller: 'admin',
  path: settingPath,
  async handle({ context, principal, initiator, path }) {
    await removeDocument(context, principal.organizationId, initiator, path.id);
    return { body: {} };
  },
});

/** The reason goes on from the file's name. */
function unreadable(name: string, cause: UnreadableDocument): ServiceError {
  return new ServiceError('INVALID_PARAMS', `${name} ${cause.message}.`, { cause });
}

function presentDocument({ id, name, title, accountId, passageCount, addedAt }: Document): DocumentJson {
  return { id, name, title, accountId, passages: passageCount, addedAt: iso(addedAt) };
}
