import { Api } from './api.ts';
import type { Service } from './service.ts';

/** A credential as the `skein` command shows it once, and the public API with that credential. */
export interface IssuedKey {
  readonly id: string;
  readonly key: string;
  readonly api: Api;
}

/** Far more than any test uses, so that only tests of the quota reach it. */
const ampleQuota = 10_000_000;

export async function makeOrganization(service: Service, name: string, quota = ampleQuota): Promise<string> {
  const { id } = await service.skein('org', 'create', name, '--quota', String(quota));
  return id;
}

/** A new member with a personal key. */
export async function makeMember(service: Service, organization: string, email: string): Promise<IssuedKey> {
  await service.skein('member', 'add', organization, email);
  return makePersonalKey(service, organization, email);
}

export async function makePersonalKey(
  service: Service,
  organization: string,
  email: string,
): Promise<IssuedKey> {
  return issued(service, await service.skein('key', 'create', organization, '--user', email));
}

export async function makeOrgWideKey(service: Service, organization: string): Promise<IssuedKey> {
  return issued(service, await service.skein('key', 'create', organization, '--org-wide'));
}

function issued(service: Service, { id, key }: { id: string; key: string }): IssuedKey {
  return { id, key, api: new Api(service.baseUrl, key) };
}
