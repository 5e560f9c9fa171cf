import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConsoleClient, signedInMember } from '../console/console-client.ts';
import type { Api } from '../http/api.ts';
import { root, Service } from '../service/service.ts';
import { makeOrganization, makePersonalKey } from '../world/tenants.ts';

/** A signed-in admin of an organization, with a personal key. */
export interface Tenant {
  readonly organizationId: string;
  readonly email: string;
  readonly admin: ConsoleClient;
  readonly key: string;
  readonly api: Api;
}

/** One service with two organizations: the requests of one are timed while the other misbehaves. */
export interface Neighborhood {
  readonly service: Service;
  readonly quiet: Tenant;
  readonly noisy: Tenant;
}

export interface NeighborhoodSettings {
  readonly environment?: Record<string, string>;
  readonly words?: string[];
}

export async function startNeighborhood(settings: NeighborhoodSettings = {}): Promise<Neighborhood> {
  const service = await Service.start(settings);
  const [quiet, noisy] = await Promise.all([makeTenant(service, 'quiet'), makeTenant(service, 'noisy')]);
  for (const name of keptDocuments) {
    const file = readFileSync(join(root, 'docs', name));
    const path = noisy.admin.at(`/documents?name=${name}`, noisy.organizationId);
    const { status, body } = await noisy.admin.call('POST', path, { file });
    assert.equal(status, 201, JSON.stringify(body));
  }
  return { service, quiet, noisy };
}

/** The noisy tenant always has these, so that its replies have something to search. */
export const keptDocuments: readonly string[] = [
  'access.md',
  'data.md',
  'monitoring.md',
  'operating.md',
  'deploying.md',
  'replies.md',
  'security.md',
];

async function makeTenant(service: Service, name: string): Promise<Tenant> {
  const organizationId = await makeOrganization(service, name);
  const email = `admin@${name}.example`;
  const admin = await signedInMember(service, organizationId, email, 'admin');
  const { key, api } = await makePersonalKey(service, organizationId, email);
  return { organizationId, email, admin, key, api };
}

/** The headers that a browser sends with a change: the session's cookies and its proof. */
export function sessionHeaders({ admin }: Tenant): Record<string, string> {
  const cookie = [...admin.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return { cookie, 'x-skein-csrf': admin.csrfToken };
}
