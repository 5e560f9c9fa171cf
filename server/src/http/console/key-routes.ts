import { ServiceError } from '../../domain/errors.ts';
import { iso, isoOrNull } from '../../domain/iso-time.ts';
import {
  type AddressedApiKey,
  createApiKey,
  keyOwnersFor,
  listAddressedApiKeys,
  revokeApiKey,
  rotateApiKey,
} from '../../usecases/credentials/api-keys.ts';
import {
  type AddressedKeyRequest,
  decideKeyRequest,
  listKeyRequests,
  requestApiKey,
  revealApiKey,
} from '../../usecases/credentials/request-api-key.ts';
import type { EnteredSession } from '../../usecases/people/sessions.ts';
import { nothing } from '../schema.ts';
import type { ConsoleOptions } from './options.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';
import {
  type KeyJson,
  type KeyRequestJson,
  keyRequestedSchema,
  keysSchema,
  type NewKeyJson,
  nameBody,
  newKeyBody,
  newKeySchema,
  rotateKeyBody,
  settingPath,
} from './setting-schemas.ts';

export function keyRoutes({ baseUrl }: ConsoleOptions): readonly ConsoleRoute[] {
  const shownOnce = ({
    id,
    key,
    userId,
  }: {
    id: string;
    key: string;
    userId: string | null;
  }): NewKeyJson => ({
    id,
    key,
    curl: userId === null ? listingCurl(baseUrl(), key) : askingCurl(baseUrl(), key),
  });

  const list = defineConsoleRoute({
    method: 'GET',
    url: '/keys',
    caller: 'member',
    response: keysSchema,
    async handle({ context, session, principal }) {
      const { organizationId } = principal;
      const [keys, requests] = await Promise.all([
        listAddressedApiKeys(context, organizationId, ownersFor(session)),
        listKeyRequests(context, organizationId, ownersFor(session)),
      ]);
      return {
        keys: keys.map((key) => presentKey(key, principal.userId)),
        requests: requests.map((request) => presentRequest(request, principal.userId)),
      };
    },
  });

  const create = defineConsoleRoute({
    method: 'POST',
    url: '/keys',
    caller: 'admin',
    body: newKeyBody,
    status: 201,
    response: newKeySchema,
    async handle({ context, principal, initiator, body: { name, scope, ownerId } }) {
      if (scope === 'org-wide' && ownerId !== undefined) {
        throw new ServiceError('INVALID_PARAMS', 'ownerId: an org-wide key has no owner.');
      }
      const userId = scope === 'org-wide' ? null : (ownerId ?? principal.userId);
      const { id, key } = await createApiKey(context, principal.organizationId, initiator, { userId, name });
      return shownOnce({ id, key, userId });
    },
  });

  const revoke = defineConsoleRoute({
    method: 'POST',
    url: '/keys/:id/revoke',
    caller: 'member',
    path: settingPath,
    response: nothing,
    async handle({ context, session, principal, initiator, path }) {
      await revokeApiKey(context, principal.organizationId, initiator, path.id, ownersFor(session));
      return {};
    },
  });

  const rotate = defineConsoleRoute({
    method: 'POST',
    url: '/keys/:id/rotate',
    caller: 'member',
    path: settingPath,
    body: rotateKeyBody,
    status: 201,
    response: newKeySchema,
    async handle({ context, session, principal, initiator, path, body: { oldValidFor } }) {
      const options = { owners: ownersFor(session), oldValidFor };
      const rotated = await rotateApiKey(context, principal.organizationId, initiator, path.id, options);
      return shownOnce(rotated);
    },
  });

  const reveal = defineConsoleRoute({
    method: 'POST',
    url: '/key-requests/:id/reveal',
    caller: 'member',
    path: settingPath,
    status: 201,
    response: newKeySchema,
    async handle({ context, principal, initiator, path }) {
      const { id, key } = await revealApiKey(context, principal, initiator, path.id);
      return shownOnce({ id, key, userId: principal.userId });
    },
  });

  return [list, create, revoke, rotate, request, approve, decline, reveal];
}

const request = defineConsoleRoute({
  method: 'POST',
  url: '/key-requests',
  caller: 'member',
  body: nameBody,
  status: 201,
  response: keyRequestedSchema,
  async handle({ context, principal, initiator, body: { name } }) {
    return { id: await requestApiKey(context, principal, initiator, name) };
  },
});

const approve = defineConsoleRoute({
  method: 'POST',
  url: '/key-requests/:id/approve',
  caller: 'admin',
  path: settingPath,
  response: nothing,
  async handle({ context, principal, initiator, path }) {
    await decideKeyRequest(context, principal, initiator, path.id, 'approved');
    return {};
  },
});

const decline = defineConsoleRoute({
  method: 'POST',
  url: '/key-requests/:id/decline',
  caller: 'admin',
  path: settingPath,
  response: nothing,
  async handle({ context, principal, initiator, path }) {
    await decideKeyRequest(context, principal, initiator, path.id, 'declined');
    return {};
  },
});

function presentRequest(
  { id, name, owner, userId, state, requestedAt, expiresAt }: AddressedKeyRequest,
  viewer: string,
): KeyRequestJson {
  const times = { requestedAt: iso(requestedAt), expiresAt: iso(expiresAt) };
  return { id, name, owner, mine: userId === viewer, state, ...times };
}

function ownersFor({ membership, principal }: EnteredSession) {
  return keyOwnersFor({ role: membership.role, userId: principal.userId });
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
