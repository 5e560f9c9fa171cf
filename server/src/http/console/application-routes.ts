import { Type } from 'typebox';
import type { Application } from '../../domain/credential.ts';
import { iso } from '../../domain/iso-time.ts';
import {
  createApplication,
  deleteApplication,
  listApplications,
  rotateApplication,
} from '../../usecases/credentials/applications.ts';
import type { ApplicationJson, ApplicationsJson, ClientSecretJson } from './contract.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { isoOrNull, settingName, settingPath } from './setting-schemas.ts';

export interface ApplicationRouteOptions {
  /** Where access tokens are issued. */
  readonly authUrl: () => string;
}

export function applicationRoutes({ authUrl }: ApplicationRouteOptions): readonly ConsoleRoute[] {
  const list = defineConsoleRoute({
    method: 'GET',
    url: '/applications',
    caller: 'admin',
    async handle({ context, principal }) {
      const applications = await listApplications(context, principal.organizationId);
      const body: ApplicationsJson = {
        applications: applications.map(presentApplication),
        tokenUrl: `${authUrl()}/oauth2/token`,
      };
      return { body };
    },
  });

  const create = defineConsoleRoute({
    method: 'POST',
    url: '/applications',
    caller: 'admin',
    body: Type.Object({ name: settingName }),
    async handle({ context, principal, initiator, body: { name } }) {
      const made = await createApplication(context, principal.organizationId, initiator, name);
      return { status: 201, body: made satisfies ClientSecretJson };
    },
  });

  const rotate = defineConsoleRoute({
    method: 'POST',
    url: '/applications/:id/rotate',
    caller: 'admin',
    path: settingPath,
    async handle({ context, principal, initiator, path: { id } }) {
      const { clientSecret } = await rotateApplication(context, principal.organizationId, initiator, id);
      return { status: 201, body: { id, clientSecret } satisfies ClientSecretJson };
    },
  });

  const remove = defineConsoleRoute({
    method: 'DELETE',
    url: '/applications/:id',
    caller: 'admin',
    path: settingPath,
    async handle({ context, principal, initiator, path }) {
      await deleteApplication(context, principal.organizationId, initiator, path.id);
      return { body: {} };
    },
  });

  return [list, create, rotate, remove];
}

function presentApplication({ id, name, createdAt, rotatedAt, lastUsedAt }: Application): ApplicationJson {
  return {
    id,
    name,
    createdAt: iso(createdAt),
    rotatedAt: isoOrNull(rotatedAt),
    lastUsedAt: isoOrNull(lastUsedAt),
  };
}
