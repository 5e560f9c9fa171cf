import { invalid } from '../../domain/errors.ts';
import { type AddressedApiKey, findKeyOwners, type Keys } from '../../usecases/credentials/api-keys.ts';
import type { Applications } from '../../usecases/credentials/applications.ts';
import type { KeyRequests } from '../../usecases/credentials/key-requests.ts';
import type { Source } from '../schema.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import * as schemas from './setting-schemas.ts';

export interface CredentialRouteNeeds {
  readonly keys: Keys;
  readonly keyRequests: KeyRequests;
  readonly applications: Applications;
  readonly baseUrl: () => string;
}

export function credentialRoutes(
  { keys, keyRequests, applications, baseUrl }: CredentialRouteNeeds,
  { authUrl }: Pick<ConsoleOptions, 'authUrl'>,
): readonly ConsoleRoute[] {
  return [
    defineConsoleRoute('GET /keys', 'member', {
      response: schemas.keysSchema,
      async handle(call) {
        const owners = findKeyOwners(call.session);
        const { userId } = call.principal;
        const [found, requests] = await Promise.all([
          keys.list(call.organizationId, owners),
          keyRequests.list(call.organizationId, owners),
        ]);
        return {
          keys: found.map((key) => keyFor(userId, key)),
          requests: requests.map((request) => ({ ...request, mine: request.userId === userId })),
        };
      },
    }),
    defineConsoleRoute('POST /keys', 'admin', {
      body: schemas.newKeyBody,
      status: 201,
      response: schemas.newKeySchema,
      async handle(call) {
        const { name, scope, ownerId } = call.body;
        if (scope === 'org-wide' && ownerId !== undefined) {
          throw invalid('`ownerId` must not be set for an org-wide key.');
        }
        const userId = scope === 'org-wide' ? null : (ownerId ?? call.principal.userId);
        const { id, key } = await keys.create(call, { userId, name });
        return showOnce(baseUrl(), id, key, userId);
      },
    }),
    defineConsoleRoute('POST /keys/:id/revoke', 'member', {
      handle: (call) => keys.revoke(call, call.path.id, findKeyOwners(call.session)),
    }),
    defineConsoleRoute('POST /keys/:id/rotate', 'member', {
      body: schemas.rotateKeyBody,
      status: 201,
      response: schemas.newKeySchema,
      async handle(call) {
        const options = { owners: findKeyOwners(call.session), oldValidFor: call.body.oldValidFor };
        const rotated = await keys.rotate(call, call.path.id, options);
        return showOnce(baseUrl(), rotated.id, rotated.key, rotated.userId);
      },
    }),
    defineConsoleRoute('POST /key-requests', 'member', {
      body: schemas.nameBody,
      status: 201,
      response: schemas.keyRequestedSchema,
      handle: async (call) => ({ id: await keyRequests.request(call, call.body.name) }),
    }),
    defineConsoleRoute('POST /key-requests/:id/approve', 'admin', {
      handle: (call) => keyRequests.decide(call, call.path.id, 'approved'),
    }),
    defineConsoleRoute('POST /key-requests/:id/decline', 'admin', {
      handle: (call) => keyRequests.decide(call, call.path.id, 'declined'),
    }),
    defineConsoleRoute('POST /key-requests/:id/reveal', 'member', {
      status: 201,
      response: schemas.newKeySchema,
      async handle(call) {
        const { id, key } = await keyRequests.reveal(call, call.path.id);
        return showOnce(baseUrl(), id, key, call.principal.userId);
      },
    }),
    defineConsoleRoute('GET /applications', 'admin', {
      response: schemas.applicationsSchema,
      async handle(call) {
        return {
          applications: await applications.list(call.organizationId),
          tokenUrl: `${authUrl()}/oauth2/token`,
        };
      },
    }),
    defineConsoleRoute('POST /applications', 'admin', {
      body: schemas.nameBody,
      status: 201,
      response: schemas.clientSecretSchema,
      handle: (call) => applications.create(call, call.body.name),
    }),
    defineConsoleRoute('POST /applications/:id/rotate', 'admin', {
      status: 201,
      response: schemas.clientSecretSchema,
      handle: (call) => applications.rotate(call, call.path.id),
    }),
    defineConsoleRoute('DELETE /applications/:id', 'admin', {
      handle: (call) => applications.remove(call, call.path.id),
    }),
  ];
}

function keyFor(viewer: string, key: AddressedApiKey): Source<typeof schemas.keySchema> {
  const { userId, creator: createdBy, revokedAt, ownedByService } = key;
  const scope = userId === null ? 'org-wide' : 'personal';
  const rotatable = revokedAt === null && (userId === null || userId === viewer || ownedByService);
  return { ...key, scope, createdBy, rotatable };
}

/** A new key with a command that uses it. An org-wide key can only read. */
function showOnce(baseUrl: string, id: string, key: string, userId: string | null) {
  const list = `curl -s ${quoted(`${baseUrl}/api/v1/threads`)} -H ${quoted(`Authorization: Bearer ${key}`)}`;
  const prompt = quoted(JSON.stringify({ prompt: 'What can you help me with?' }));
  const ask = `${list} -H 'Content-Type: application/json' -d ${prompt}`;
  return { id, key, curl: userId === null ? list : ask };
}

/** The text as one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
