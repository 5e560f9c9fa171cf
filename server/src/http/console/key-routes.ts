import { Type } from 'typebox';
import { ServiceError } from '../../domain/errors.ts';
import { iso } from '../../domain/iso-time.ts';
import { createApiKey } from '../../usecases/create-api-key.ts';
import { keyOwnersFor } from '../../usecases/key-owner.ts';
import { type AddressedApiKey, listAddressedApiKeys } from '../../usecases/list-api-keys.ts';
import type { EnteredSession } from '../../usecases/read-session.ts';
import { revokeApiKey } from '../../usecases/revoke-api-key.ts';
import type { KeyJson, KeysJson, NewKeyJson } from './contract.ts';
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
  const list = defineConsoleRoute({
    method: 'GET',
    url: '/keys',
    caller: 'member',
    async handle({ context, session, principal }) {
      const keys = await listAddressedApiKeys(context, principal.organizationId, ownersFor(session));
      return { body: { keys: keys.map(presentKey) } satisfies KeysJson };
    },
  });

  const create = defineConsoleRoute({
    method: 'POST',
    url: '/keys',
    caller: 'admin',
    body: newKey,
    async handle({ context, principal, doer, body: { name, scope, ownerId } }) {
      if (scope === 'org-wide' && ownerId !== undefined) {
        throw new ServiceError('INVALID_PARAMS', 'ownerId: an org-wide key has no owner.');
      }
      const userId = scope === 'org-wide' ? null : (ownerId ?? principal.userId);
      const { id, key } = await createApiKey(context, principal.organizationId, doer, { userId, name });
      const curl = userId === null ? listingCurl(baseUrl(), key) : askingCurl(baseUrl(), key);
      return { status: 201, body: { id, key, curl } satisfies NewKeyJson };
    },
  });

  const revoke = defineConsoleRoute({
    method: 'POST',
    url: '/keys/:id/revoke',
    caller: 'member',
    path: settingPath,
    async handle({ context, session, principal, doer, path }) {
      await revokeApiKey(context, principal.organizationId, doer, path.id, ownersFor(session));
      return { body: {} };
    },
  });

  return [list, create, revoke];
}

function ownersFor({ membership, principal }: EnteredSession) {
  return keyOwnersFor({ role: membership.role, userId: principal.userId });
}

function presentKey(key: AddressedApiKey): KeyJson {
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
