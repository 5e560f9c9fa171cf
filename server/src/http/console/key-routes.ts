import { Type } from 'typebox';
import { ServiceError } from '../../domain/errors.ts';
import { iso } from '../../domain/iso-time.ts';
import {
  type AddressedApiKey,
  createApiKey,
  listAddressedApiKeys,
  type RotationGrace,
  revokeApiKey,
  rotateApiKey,
  rotationGraces,
} from '../../usecases/credentials/api-keys.ts';
import { keyOwnersFor } from '../../usecases/credentials/key-owner.ts';
import {
  type AddressedKeyRequest,
  decideKeyRequest,
  listKeyRequests,
  requestApiKey,
  revealApiKey,
} from '../../usecases/credentials/request-api-key.ts';
import type { EnteredSession } from '../../usecases/people/sessions.ts';
import type { KeyJson, KeyRequestJson, KeysJson, NewKeyJson } from './contract.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { isoOrNull, settingName, settingPath } from './setting-schemas.ts';

export interface KeyRouteOptions {
  readonly baseUrl: () => string;
}

const newKey = Type.Object({
  name: settingName,
  scope: Type.Enum(['personal', 'org-wide']),
  ownerId: Type.Optional(Type.String({ format: 'text' })),
});

export function keyRoutes({ baseUrl }: KeyRouteOptions): readonly ConsoleRoute[] {
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
    async handle({ context, session, principal }) {
      const { organizationId } = principal;
      const [keys, requests] = await Promise.all([
        listAddressedApiKeys(context, organizationId, ownersFor(session)),
        listKeyRequests(context, organizationId, ownersFor(session)),
      ]);
      const body: KeysJson = {
        keys: keys.map((key) => presentKey(key, principal.userId)),
        requests: requests.map((request) => presentRequest(request, principal.userId)),
      };
      return { body };
    },
  });

  const create = defineConsoleRoute({
    method: 'POST',
    url: '/keys',
    caller: 'admin',
    body: newKey,
    async handle({ context, principal, initiator, body: { name, scope, ownerId } }) {
      if (scope === 'org-wide' && ownerId !== undefined) {
        throw new ServiceError('INVALID_PARAMS', 'ownerId: an org-wide key has no owner.');
      }
      const userId = scope === 'org-wide' ? null : (ownerId ?? principal.userId);
      const { id, key } = await createApiKey(context, principal.organizationId, initiator, { userId, name });
      return { status: 201, body: shownOnce({ id, key, userId }) };
    },
  });

  const revoke = defineConsoleRoute({
    method: 'POST',
    url: '/keys/:id/revoke',
    caller: 'member',
    path: settingPath,
    async handle({ context, session, principal, initiator, path }) {
      await revokeApiKey(context, principal.organizationId, initiator, path.id, ownersFor(session));
      return { body: {} };
    },
  });

  const rotate = defineConsoleRoute({
    method: 'POST',
    url: '/keys/:id/rotate',
    caller: 'member',
    path: settingPath,
    body: Type.Object({ oldValidFor: Type.Enum(Object.keys(rotationGraces) as RotationGrace[]) }),
    async handle({ context, session, principal, initiator, path, body: { oldValidFor } }) {
      const options = { owners: ownersFor(session), oldValidFor };
      const rotated = await rotateApiKey(context, principal.organizationId, initiator, path.id, options);
      return { status: 201, body: shownOnce(rotated) };
    },
  });

  const reveal = defineConsoleRoute({
    method: 'POST',
    url: '/key-requests/:id/reveal',
    caller: 'member',
    path: settingPath,
    async handle({ context, principal, initiator, path }) {
      const { id, key } = await revealApiKey(context, principal, initiator, path.id);
      return { status: 201, body: shownOnce({ id, key, userId: principal.userId }) };
    },
  });

  return [list, create, revoke, rotate, request, approve, decline, reveal];
}

const request = defineConsoleRoute({
  method: 'POST',
  url: '/key-requests',
  caller: 'member',
  body: Type.Object({ name: settingName }),
  async handle({ context, principal, initiator, body: { name } }) {
    return { status: 201, body: { id: await requestApiKey(context, principal, initiator, name) } };
  },
});

const approve = defineConsoleRoute({
  method: 'POST',
  url: '/key-requests/:id/approve',
  caller: 'admin',
  path: settingPath,
  async handle({ context, principal, initiator, path }) {
    await decideKeyRequest(context, principal, initiator, path.id, 'approved');
    return { body: {} };
  },
});

const decline = defineConsoleRoute({
  method: 'POST',
  url: '/key-requests/:id/decline',
  caller: 'admin',
  path: settingPath,
  async handle({ context, principal, initiator, path }) {
    await decideKeyRequest(context, principal, initiator, path.id, 'declined');
    return { body: {} };
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

/** An org-wide key only reads. */
function listingCurl(baseUrl: string, key: string): string {
  return `curl -s ${quoted(`${baseUrl}/api/v1/threads`)} -H ${quoted(`Authorization: Bearer ${key}`)}`;
}

function askingCurl(baseUrl: string, key: string): string {
  const prompt = quoted(JSON.stringify({ prompt: 'What can you help me with?' }));
  return `${listingCurl(baseUrl, key)} -H 'Content-Type: application/json' -d ${prompt}`;
}

/** One word for every shell of a POSIX kind. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
