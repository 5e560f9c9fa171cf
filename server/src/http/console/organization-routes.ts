import { type Document, UnreadableDocument } from '../../domain/document.ts';
import { invalid } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { Documents } from '../../usecases/documents/documents.ts';
import type { ExampleQuestions } from '../../usecases/documents/example-questions.ts';
import type { Organizations } from '../../usecases/organization/organization.ts';
import type { TestModel } from '../../usecases/organization/test-model.ts';
import type { AddedMember, Members } from '../../usecases/people/members.ts';
import { present, Type, text, textFormat } from '../schema.ts';
import type { Piece } from '../wire/index.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import * as schemas from './setting-schemas.ts';
import { uploadReceiver } from './uploads.ts';

export interface OrganizationRouteNeeds {
  readonly members: Members;
  readonly documents: Documents;
  readonly exampleQuestions: Pick<ExampleQuestions, 'list'>;
  readonly organizations: Pick<Organizations, 'readFirstSteps'>;
  readonly testModel: TestModel;
}

export function organizationRoutes(
  { members, documents, exampleQuestions, organizations, testModel }: OrganizationRouteNeeds,
  options: ConsoleOptions,
): readonly ConsoleRoute[] {
  const { limits, model } = options;
  return [
    ...memberRoutes(members),
    ...documentRoutes(documents, options),
    defineConsoleRoute('GET /examples', 'member', {
      query: Type.Object({ accountId: Type.Optional(text(1, limits.linkLengthMax)) }),
      response: schemas.examplesSchema,
      handle: async (call) => ({
        questions: await exampleQuestions.list(call.organizationId, call.query.accountId ?? null),
      }),
    }),
    defineConsoleRoute('GET /first-steps', 'admin', {
      response: schemas.firstStepsSchema,
      handle: (call) => organizations.readFirstSteps(call.principal),
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

function memberRoutes(members: Members): readonly ConsoleRoute[] {
  const invited = ({ userId: id, invitation }: AddedMember) => {
    const { link, mailed, expiresAt } = invitation ?? { link: null, mailed: false, expiresAt: null };
    return { id, link, mailed, expiresAt };
  };
  return [
    defineConsoleRoute('GET /members', 'admin', {
      response: schemas.membersSchema,
      async handle(call) {
        const found = await members.list(call.organizationId);
        const shown = found.map((member) => ({ ...member, id: member.userId }));
        return { members: shown, sendsMail: members.sendsMail };
      },
    }),
    defineConsoleRoute('POST /members', 'admin', {
      body: schemas.newMemberBody,
      status: 201,
      response: schemas.invitedSchema,
      handle: async (call) => invited(await members.add(call, call.body)),
    }),
    defineConsoleRoute('POST /members/:id/invitation', 'admin', {
      status: 201,
      response: schemas.invitedSchema,
      async handle(call) {
        const { userId } = await members.findById(call.organizationId, call.path.id);
        const invitation = await members.invite(call, userId);
        return invited({ userId, invitation });
      },
    }),
    defineConsoleRoute('PATCH /members/:id', 'admin', {
      body: schemas.memberRoleBody,
      handle: (call) => members.changeRole(call, call.path.id, call.body.role),
    }),
    defineConsoleRoute('DELETE /members/:id', 'admin', {
      async handle(call) {
        const member = await members.findById(call.organizationId, call.path.id);
        await members.remove(call, member);
      },
    }),
  ];
}

function documentRoutes(documents: Documents, options: ConsoleOptions): readonly ConsoleRoute[] {
  const { limits, searchPassages } = options;
  const receive = uploadReceiver(options);
  return [
    defineConsoleRoute('GET /documents', 'member', {
      response: schemas.documentsSchema,
      handle: async (call) => documentPieces(documents, call.organizationId),
    }),
    defineConsoleRoute('GET /documents/:id', 'member', {
      query: Type.Object({
        cited: Type.Optional(text(1, citedLengthMax)),
        snippet: Type.Optional(text(1, citedLengthMax)),
      }),
      response: schemas.openedDocumentSchema,
      async handle(call) {
        const texts = [call.query.cited, call.query.snippet].filter((one) => one !== undefined);
        const { document, ...rest } = await documents.open(call.organizationId, call.path.id, texts);
        return { ...document, passages: document.passageCount, ...rest };
      },
    }),
    defineConsoleRoute('GET /documents/:id/passages', 'member', {
      query: Type.Object({
        skip: Type.Integer({ minimum: 0, maximum: limits.documentPassagesMax }),
        limit: Type.Integer({ minimum: 1, maximum: limits.pageSizeMax }),
      }),
      response: schemas.passagesSchema,
      handle: async (call) => ({
        passages: await documents.readPassages(call.organizationId, call.path.id, call.query),
      }),
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
        const added = await receive(call, (path) => documents.add(call, { name, path, accountId })).catch(
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
      handle: (call) => documents.testQuestion(call, searchPassages, call.body),
    }),
    defineConsoleRoute('POST /documents/remove', 'admin', {
      body: schemas.removedDocumentsBody,
      response: schemas.removedDocumentsSchema,
      handle: (call) => documents.removeAll(call, call.body.ids),
    }),
  ];
}

/** More than a source's snippet. */
const citedLengthMax = 1_000;

/** The JSON of the documents, a page at a time. */
async function* documentPieces(documents: Documents, organizationId: OrganizationId): AsyncGenerator<Piece> {
  let [count, bytes] = [0, 0];
  yield '{"documents":[';
  for await (const page of documents.pages(organizationId)) {
    const shown = page.map(documentJson).join();
    yield Buffer.from(count > 0 && page.length > 0 ? `,${shown}` : shown);
    count += page.length;
    for (const document of page) bytes += document.bytes;
  }
  const storage = documents.describeStorage(count, bytes);
  yield `],${JSON.stringify({ storage, endings: documents.formats.endings }).slice(1)}`;
}

function documentJson(document: Document): string {
  return JSON.stringify(present(schemas.documentSchema, { ...document, passages: document.passageCount }));
}
