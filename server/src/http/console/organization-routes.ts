import { type Document, documentEndings, UnreadableDocument } from '../../domain/document.ts';
import { invalid } from '../../domain/errors.ts';
import {
  addDocument,
  documentPages,
  documentStorage,
  listExampleQuestions,
  openDocument,
  readPassages,
  removeDocuments,
  testQuestion,
} from '../../usecases/documents/documents.ts';
import { readFirstSteps } from '../../usecases/organization/organization.ts';
import { testModel } from '../../usecases/organization/test-model.ts';
import {
  type AddedMember,
  addMember,
  changeMemberRole,
  findMemberById,
  inviteMember,
  listMembers,
  removeMember,
} from '../../usecases/people/members.ts';
import type { Piece } from '../long-responses.ts';
import { present, Type, text, textFormat } from '../schema.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute, type MemberCall } from './route.ts';
import * as schemas from './setting-schemas.ts';
import { uploadReceiver } from './uploads.ts';

export function organizationRoutes(options: ConsoleOptions): readonly ConsoleRoute[] {
  const { limits, model } = options;
  return [
    ...memberRoutes(),
    ...documentRoutes(options),
    defineConsoleRoute('GET /examples', 'member', {
      query: Type.Object({ accountId: Type.Optional(text(1, limits.linkLengthMax)) }),
      response: schemas.examplesSchema,
      handle: async (call) => ({
        questions: await listExampleQuestions(call, call.query.accountId ?? null),
      }),
    }),
    defineConsoleRoute('GET /first-steps', 'admin', {
      response: schemas.firstStepsSchema,
      handle: readFirstSteps,
    }),
    defineConsoleRoute('GET /model', 'admin', {
      response: schemas.modelSchema,
      handle: async () => model,
    }),
    defineConsoleRoute('POST /model/test', 'admin', {
      response: schemas.modelTestSchema,
      handle: async (call) => ({ result: await testModel(call, model) }),
    }),
  ];
}

function memberRoutes(): readonly ConsoleRoute[] {
  const invited = ({ userId: id, invitation }: AddedMember) => {
    const { link, mailed, expiresAt } = invitation ?? { link: null, mailed: false, expiresAt: null };
    return { id, link, mailed, expiresAt };
  };
  return [
    defineConsoleRoute('GET /members', 'admin', {
      response: schemas.membersSchema,
      async handle(call) {
        const members = (await listMembers(call)).map((member) => ({ ...member, id: member.userId }));
        return { members, sendsMail: call.context.mailer !== undefined };
      },
    }),
    defineConsoleRoute('POST /members', 'admin', {
      body: schemas.newMemberBody,
      status: 201,
      response: schemas.invitedSchema,
      handle: async (call) => invited(await addMember(call, call.body)),
    }),
    defineConsoleRoute('POST /members/:id/invitation', 'admin', {
      status: 201,
      response: schemas.invitedSchema,
      async handle(call) {
        const { userId } = await findMemberById(call, call.path.id);
        const invitation = await inviteMember(call, userId);
        return invited({ userId, invitation });
      },
    }),
    defineConsoleRoute('PATCH /members/:id', 'admin', {
      body: schemas.memberRoleBody,
      handle: (call) => changeMemberRole(call, call.path.id, call.body.role),
    }),
    defineConsoleRoute('DELETE /members/:id', 'admin', {
      async handle(call) {
        const member = await findMemberById(call, call.path.id);
        await removeMember(call, member);
      },
    }),
  ];
}

function documentRoutes(options: ConsoleOptions): readonly ConsoleRoute[] {
  const { limits, searchPassages } = options;
  const receive = uploadReceiver(options);
  return [
    defineConsoleRoute('GET /documents', 'member', {
      response: schemas.documentsSchema,
      handle: async (call) => documentPieces(call),
    }),
    defineConsoleRoute('GET /documents/:id', 'member', {
      query: Type.Object({
        cited: Type.Optional(text(1, citedLengthMax)),
        snippet: Type.Optional(text(1, citedLengthMax)),
      }),
      response: schemas.openedDocumentSchema,
      async handle(call) {
        const texts = [call.query.cited, call.query.snippet].filter((one) => one !== undefined);
        const { document, ...rest } = await openDocument(call, call.path.id, texts);
        return { ...document, passages: document.passageCount, ...rest };
      },
    }),
    defineConsoleRoute('GET /documents/:id/passages', 'member', {
      query: Type.Object({
        skip: Type.Integer({ minimum: 0, maximum: limits.documentPassagesMax }),
        limit: Type.Integer({ minimum: 1, maximum: limits.pageSizeMax }),
      }),
      response: schemas.passagesSchema,
      handle: async (call) => ({ passages: await readPassages(call, call.path.id, call.query) }),
    }),
    defineConsoleRoute('POST /documents', 'admin', {
      query: Type.Object({
        name: Type.String({ format: textFormat, minLength: 1 }),
        accountId: Type.Optional(text(1, limits.linkLengthMax)),
      }),
      takesFile: true,
      status: 201,
      response: schemas.addedDocumentSchema,
      async handle(call) {
        const { name, accountId = null } = call.query;
        const added = await receive(call, (path) => addDocument(call, { name, path, accountId })).catch(
          (error: unknown) => {
            if (!(error instanceof UnreadableDocument)) throw error;
            throw invalid(`${name} ${error.message}.`, { cause: error });
          },
        );
        return { ...added, passages: added.passageCount };
      },
    }),
    defineConsoleRoute('POST /documents/search', 'admin', {
      body: schemas.questionBody(limits),
      response: schemas.foundPassagesSchema,
      handle: (call) => testQuestion(call, searchPassages, call.body),
    }),
    defineConsoleRoute('POST /documents/remove', 'admin', {
      body: schemas.removedDocumentsBody,
      response: schemas.removedDocumentsSchema,
      handle: (call) => removeDocuments(call, call.body.ids),
    }),
  ];
}

/** More than a source's snippet. */
const citedLengthMax = 1_000;

/** The JSON of the documents, a page at a time. */
async function* documentPieces(call: MemberCall): AsyncGenerator<Piece> {
  let [documents, bytes] = [0, 0];
  yield '{"documents":[';
  for await (const page of documentPages(call)) {
    const shown = page.map(documentJson).join();
    yield Buffer.from(documents > 0 && page.length > 0 ? `,${shown}` : shown);
    documents += page.length;
    for (const document of page) bytes += document.bytes;
  }
  const storage = documentStorage(call.context, documents, bytes);
  yield `],${JSON.stringify({ storage, endings: documentEndings }).slice(1)}`;
}

function documentJson(document: Document): string {
  return JSON.stringify(present(schemas.documentSchema, { ...document, passages: document.passageCount }));
}
