import { Api } from '../http/api.ts';
import type { Service } from '../service/service.ts';

/** Runs the operator's commands on a store. Every command must succeed. */
export type Operator = Pick<Service, 'skein'>;

/** A credential as the `skein` command shows it once. */
export interface Key {
  readonly id: string;
  readonly key: string;
}

/** A credential, and the public API with it. */
export interface IssuedKey extends Key {
  readonly api: Api;
}

/** Far more than any test uses, so that only tests of the quota reach it. */
const ampleQuota = 10_000_000;

export async function makeOrganization(
  operator: Operator,
  name: string,
  quota = ampleQuota,
): Promise<string> {
  const { id } = await operator.skein('org', 'create', name, '--quota', String(quota));
  return id;
}

/** Adds a member and creates their personal key. No service has to run. */
export async function hire(operator: Operator, organization: string, email: string): Promise<Key> {
  await operator.skein('member', 'add', organization, email);
  return operator.skein('key', 'create', organization, '--user', email);
}

/** A new member with a personal key. */
export async function makeMember(service: Service, organization: string, email: string): Promise<IssuedKey> {
  return issued(service, await hire(service, organization, email));
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

function issued(service: Service, { id, key }: Key): IssuedKey {
  return { id, key, api: new Api(service.baseUrl, key) };
}
