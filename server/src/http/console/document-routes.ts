import { type Document, documentEndings, UnreadableDocument } from '../../domain/document.ts';
import { ServiceError } from '../../domain/errors.ts';
import { iso } from '../../domain/iso-time.ts';
import { addDocument, listDocuments, removeDocument } from '../../usecases/documents/documents.ts';
import { nothing, Type, text } from '../schema.ts';
import type { ConsoleOptions } from './options.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { addedDocumentSchema, type DocumentJson, documentsSchema, settingPath } from './setting-schemas.ts';

export function documentRoutes({ limits }: ConsoleOptions): readonly ConsoleRoute[] {
  const list = defineConsoleRoute({
    method: 'GET',
    url: '/documents',
    caller: 'member',
    response: documentsSchema,
    async handle({ context, principal }) {
      const { documents, storage } = await listDocuments(context, principal.organizationId);
      return { documents: documents.map(presentDocument), storage, endings: documentEndings };
    },
  });

  const add = defineConsoleRoute({
    method: 'POST',
    url: '/documents',
    caller: 'admin',
    query: Type.Object({
      name: Type.String({ format: 'text', minLength: 1 }),
      accountId: Type.Optional(text(1, limits.linkLengthMax)),
    }),
    takesFile: true,
    status: 201,
    response: addedDocumentSchema,
    async handle({ context, principal, initiator, query: { name, accountId = null }, body }) {
      const path = body as unknown as string | undefined;
      // A request without a body is an empty file, which the reader rejects.
      const source = path === undefined ? { bytes: new Uint8Array() } : { path };
      const { id, title, passageCount, replaced } = await addDocument(
        context,
        principal.organizationId,
        initiator,
        { name, source, accountId },
      ).catch((error: unknown) => {
        throw error instanceof UnreadableDocument ? unreadable(name, error) : error;
      });
      return { id, title, passages: passageCount, replaced };
    },
  });

  return [list, add, remove];
}

const remove = defineConsoleRoute({
  method: 'DELETE',
  url: '/documents/:id',
  caller: 'admin',
  path: settingPath,
  response: nothing,
  async handle({ context, principal, initiator, path }) {
    await removeDocument(context, principal.organizationId, initiator, path.id);
    return {};
  },
});

/** The reason continues the sentence that starts with the file's name. */
function unreadable(name: string, cause: UnreadableDocument): ServiceError {
  return new ServiceError('INVALID_PARAMS', `${name} ${cause.message}.`, { cause });
}

function presentDocument({ id, name, title, accountId, passageCount, addedAt }: Document): DocumentJson {
  return { id, name, title, accountId, passages: passageCount, addedAt: iso(addedAt) };
}
