import type { Application } from '../../domain/credential.ts';
import { invalid } from '../../domain/errors.ts';
import { iso, isoOrNull } from '../../domain/time.ts';
import {
  type AddressedApiKey,
  type AddressedKeyRequest,
  createApiKey,
  decideKeyRequest,
  keyOwnersFor,
  listAddressedApiKeys,
  listKeyRequests,
  requestApiKey,
  revealApiKey,
  revokeApiKey,
  rotateApiKey,
} from '../../usecases/credentials/api-keys.ts';
import {
  createApplication,
  deleteApplication,
  listApplications,
  rotateApplication,
} from '../../usecases/credentials/applications.ts';
import { type ConsoleOptions, type ConsoleRoute, defineConsoleRoute } from './route.ts';
import {
  type ApplicationJson,
  applicationsSchema,
  clientSecretSchema,
  type KeyJson,
  type KeyRequestJson,
  keyRequestedSchema,
  keysSchema,
  type NewKeyJson,
  nameBody,
  newKeyBody,
  newKeySchema,
  rotateKeyBody,
} from './setting-schemas.ts';

export function credentialRoutes({ baseUrl, authUrl }: ConsoleOptions): readonly ConsoleRoute[] {
  const shownOnce = (id: string, key: string, userId: string | null): NewKeyJson => {
    return { id, key, curl: userId === null ? listingCurl(baseUrl(), key) : askingCurl(baseUrl(), key) };
  };

  return [
    defineConsoleRoute('GET /keys', 'member', {
      response: keysSchema,
      async handle({ context, session, organizationId, principal: { userId } }) {
        const owners = keyOwnersFor(session);
        const [keys, requests] = await Promise.all([
          listAddressedApiKeys(context, organizationId, owners),
          listKeyRequests(context, organizationId, owners),
        ]);
        return {
          keys: keys.map((key) => presentKey(key, userId)),
          requests: requests.map((request) => presentRequest(request, userId)),
        };
      },
    }),
    defineConsoleRoute('POST /keys', 'admin', {
      body: newKeyBody,
      status: 201,
      response: newKeySchema,
      async handle(call) {
        const { name, scope, ownerId } = call.body;
        if (scope === 'org-wide' && ownerId !== undefined) {
          throw invalid('ownerId: an org-wide key has no owner.');
        }
        const userId = scope === 'org-wide' ? null : (ownerId ?? call.principal.userId);
        const { id, key } = await createApiKey(call, { userId, name });
        return shownOnce(id, key, userId);
      },
    }),
    defineConsoleRoute('POST /keys/:id/revoke', 'member', {
      handle: (call) => revokeApiKey(call, call.path.id, keyOwnersFor(call.session)),
    }),
    defineConsoleRoute('POST /keys/:id/rotate', 'member', {
      body: rotateKeyBody,
      status: 201,
      response: newKeySchema,
      async handle(call) {
        const options = { owners: keyOwnersFor(call.session), oldValidFor: call.body.oldValidFor };
        const rotated = await rotateApiKey(call, call.path.id, options);
        return shownOnce(rotated.id, rotated.key, rotated.userId);
      },
    }),
    defineConsoleRoute('POST /key-requests', 'member', {
      body: nameBody,
      status: 201,
      response: keyRequestedSchema,
      handle: async (call) => ({ id: await requestApiKey(call, call.body.name) }),
    }),
    defineConsoleRoute('POST /key-requests/:id/approve', 'admin', {
      handle: (call) => decideKeyRequest(call, call.path.id, 'approved'),
    }),
    defineConsoleRoute('POST /key-requests/:id/decline', 'admin', {
      handle: (call) => decideKeyRequest(call, call.path.id, 'declined'),
    }),
    defineConsoleRoute('POST /key-requests/:id/reveal', 'member', {
      status: 201,
      response: newKeySchema,
      async handle(call) {
        const { id, key } = await revealApiKey(call, call.path.id);
        return shownOnce(id, key, call.principal.userId);
      },
    }),
    defineConsoleRoute('GET /applications', 'admin', {
      response: applicationsSchema,
      async handle({ context, organizationId }) {
        const applications = await listApplications(context, organizationId);
        return { applications: applications.map(presentApplication), tokenUrl: `${authUrl()}/oauth2/token` };
      },
    }),
    defineConsoleRoute('POST /applications', 'admin', {
      body: nameBody,
      status: 201,
      response: clientSecretSchema,
      handle: (call) => createApplication(call, call.body.name),
    }),
    defineConsoleRoute('POST /applications/:id/rotate', 'admin', {
      status: 201,
      response: clientSecretSchema,
      handle: (call) => rotateApplication(call, call.path.id),
    }),
    defineConsoleRoute('DELETE /applications/:id', 'admin', {
      handle: (call) => deleteApplication(call, call.path.id),
    }),
  ];
}

function presentRequest(
  { id, name, owner, userId, state, requestedAt, expiresAt }: AddressedKeyRequest,
  viewer: string,
): KeyRequestJson {
  const times = { requestedAt: iso(requestedAt), expiresAt: iso(expiresAt) };
  return { id, name, owner, mine: userId === viewer, state, ...times };
}

function presentKey(key: AddressedApiKey, viewer: string): KeyJson {
  return {
    id: key.id,
    name: key.name,
    hint: key.hint,
    scope: key.userId === null ? 'org-wide' : 'personal',
    owner: key.owner,
    createdBy: key.creator,
    createdAt: iso(key.createdAt),
    lastUsedAt: isoOrNull(key.lastUsedAt),
    revokedAt: isoOrNull(key.revokedAt),
    rotatable: key.revokedAt === null && (key.userId === null || key.userId === viewer || key.ownedByService),
  };
}

function presentApplication({ id, name, createdAt, rotatedAt, lastUsedAt }: Application): ApplicationJson {
  const used = { rotatedAt: isoOrNull(rotatedAt), lastUsedAt: isoOrNull(lastUsedAt) };
  return { id, name, createdAt: iso(createdAt), ...used };
}

/** For an org-wide key, which can only read. */
function listingCurl(baseUrl: string, key: string): string {
  return `curl -s ${quoted(`${baseUrl}/api/v1/threads`)} -H ${quoted(`Authorization: Bearer ${key}`)}`;
}

function askingCurl(baseUrl: string, key: string): string {
  const prompt = quoted(JSON.stringify({ prompt: 'What can you help me with?' }));
  return `${listingCurl(baseUrl, key)} -H 'Content-Type: application/json' -d ${prompt}`;
}

/** One word in a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
