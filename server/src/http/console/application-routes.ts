import type { Application } from '../../domain/credential.ts';
import { iso, isoOrNull } from '../../domain/iso-time.ts';
import {
  createApplication,
  deleteApplication,
  listApplications,
  rotateApplication,
} from '../../usecases/credentials/applications.ts';
import { nothing } from '../schema.ts';
import type { ConsoleOptions } from './options.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';
import {
  type ApplicationJson,
  applicationsSchema,
  clientSecretSchema,
  nameBody,
  settingPath,
} from './setting-schemas.ts';

export function applicationRoutes({ authUrl }: ConsoleOptions): readonly ConsoleRoute[] {
  const list = defineConsoleRoute({
    method: 'GET',
    url: '/applications',
    caller: 'admin',
    response: applicationsSchema,
    async handle({ context, principal }) {
      const applications = await listApplications(context, principal.organizationId);
      return {
        applications: applications.map(presentApplication),
        tokenUrl: `${authUrl()}/oauth2/token`,
      };
    },
  });

  return [list, create, rotate, remove];
}

const create = defineConsoleRoute({
  method: 'POST',
  url: '/applications',
  caller: 'admin',
  body: nameBody,
  status: 201,
  response: clientSecretSchema,
  handle({ context, principal, initiator, body: { name } }) {
    return createApplication(context, principal.organizationId, initiator, name);
  },
});

const rotate = defineConsoleRoute({
  method: 'POST',
  url: '/applications/:id/rotate',
  caller: 'admin',
  path: settingPath,
  status: 201,
  response: clientSecretSchema,
  async handle({ context, principal, initiator, path: { id } }) {
    const { clientSecret } = await rotateApplication(context, principal.organizationId, initiator, id);
    return { id, clientSecret };
  },
});

const remove = defineConsoleRoute({
  method: 'DELETE',
  url: '/applications/:id',
  caller: 'admin',
  path: settingPath,
  response: nothing,
  async handle({ context, principal, initiator, path }) {
    await deleteApplication(context, principal.organizationId, initiator, path.id);
    return {};
  },
});

function presentApplication({ id, name, createdAt, rotatedAt, lastUsedAt }: Application): ApplicationJson {
  return {
    id,
    name,
    createdAt: iso(createdAt),
    rotatedAt: isoOrNull(rotatedAt),
    lastUsedAt: isoOrNull(lastUsedAt),
  };
}
