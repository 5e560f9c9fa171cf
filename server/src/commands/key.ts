import {
  createApiKey,
  listAddressedApiKeys,
  type RotationGrace,
  revokeApiKey,
  rotateApiKey,
  rotationGraces,
} from '../usecases/credentials/api-keys.ts';
import { type AddressedKeyRequest, listKeyRequests } from '../usecases/credentials/request-api-key.ts';
import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import { findOrganization } from '../usecases/organization/organization.ts';
import { findMember } from '../usecases/people/members.ts';
import { optionChoice, optionText, positional, type StoreCommand, table, UsageError } from './command.ts';

export const keyCreate: StoreCommand = {
  name: 'key create',
  usage: 'ORG (--user EMAIL | --org-wide) [--name N]',
  summary: 'Create an API key and show it once',
  positionals: ['ORG'],
  options: { user: { type: 'string' }, 'org-wide': { type: 'boolean' }, name: { type: 'string' } },
  async run(context, args) {
    const email = optionText(args, 'user');
    if ((email === undefined) === (args.options['org-wide'] !== true)) {
      throw new UsageError('Choose an owner: either --user EMAIL or --org-wide.');
    }
    const organization = await findOrganization(context, positional(args, 0));
    const owner = email === undefined ? null : await findMember(context, organization.id, email);
    const { id, key } = await createApiKey(context, organization.id, operatorInitiator(context), {
      userId: owner?.userId ?? null,
      name: optionText(args, 'name') ?? '',
    });
    return { json: { id, key }, text: `${key}\n\nThis is ${id}. Store the key now: it is not shown again.` };
  },
};

export const keyRevoke: StoreCommand = {
  name: 'key revoke',
  usage: 'ORG KEY_ID',
  summary: 'Revoke an API key immediately and permanently',
  positionals: ['ORG', 'KEY_ID'],
  async run(context, args) {
    const organization = await findOrganization(context, positional(args, 0));
    const id = positional(args, 1);
    await revokeApiKey(context, organization.id, operatorInitiator(context), id);
    return { json: { id }, text: `Revoked ${id}.` };
  },
};

export const keyRotate: StoreCommand = {
  name: 'key rotate',
  usage: 'ORG KEY_ID [--old-valid-for now|1h|24h|7d]',
  summary: 'Replace an API key and show the new one once; the old one is revoked now or later',
  positionals: ['ORG', 'KEY_ID'],
  options: { 'old-valid-for': { type: 'string' } },
  async run(context, args) {
    const graces = Object.keys(rotationGraces) as RotationGrace[];
    const oldValidFor = optionChoice(args, 'old-valid-for', graces) ?? 'now';
    const organization = await findOrganization(context, positional(args, 0));
    const old = positional(args, 1);
    const options = { owners: 'all', oldValidFor } as const;
    const { id, key } = await rotateApiKey(
      context,
      organization.id,
      operatorInitiator(context),
      old,
      options,
    );
    const ends = oldValidFor === 'now' ? 'is revoked' : `works for another ${oldValidFor}`;
    return {
      json: { id, key },
      text: `${key}\n\nThis is ${id}. Store the key now: it is not shown again. ${old} ${ends}.`,
    };
  },
};

export const keyList: StoreCommand = {
  name: 'key list',
  usage: 'ORG',
  summary: "Show an organization's API keys",
  positionals: ['ORG'],
  async run(context, args) {
    const organization = await findOrganization(context, positional(args, 0));
    const keys = await listAddressedApiKeys(context, organization.id, 'all');
    const requests = await listKeyRequests(context, organization.id, 'all');
    const now = context.now();
    const rows = keys.map(({ id, hint, owner, creator, lastUsedAt, name, revokedAt }) => [
      id,
      hint,
      owner ?? 'org-wide',
      `made by ${creator ?? 'the operator'}`,
      lastUsedAt === null ? 'never used' : `used ${new Date(lastUsedAt).toISOString()}`,
      stateOf(revokedAt, now),
      name,
    ]);
    return {
      json: keys.map(({ owner: _owner, creator: _creator, ownedByService: _service, ...key }) => key),
      text:
        table(rows, "No keys yet: 'skein key create ORG --user EMAIL' creates one.") +
        (requests.length === 0 ? '' : `\n\nKey requests:\n${table(requests.map(requestRow), '')}`),
    };
  },
};

function stateOf(revokedAt: number | null, now: number): string {
  if (revokedAt === null) return 'live';
  return revokedAt > now ? `ends ${new Date(revokedAt).toISOString()}` : 'revoked';
}

function requestRow({ id, owner, state, name }: AddressedKeyRequest): string[] {
  return [id, owner, state, name];
}
