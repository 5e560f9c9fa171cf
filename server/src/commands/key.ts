import { createApiKey } from '../usecases/create-api-key.ts';
import { findMember } from '../usecases/find-member.ts';
import { findOrganization } from '../usecases/find-organization.ts';
import { listAddressedApiKeys } from '../usecases/list-api-keys.ts';
import { operatorDoer } from '../usecases/operator.ts';
import { revokeApiKey } from '../usecases/revoke-api-key.ts';
import { optionText, positional, type StoreCommand, table, UsageError } from './command.ts';

export const keyCreate: StoreCommand = {
  name: 'key create',
  usage: 'ORG (--user EMAIL | --org-wide) [--name N]',
  summary: 'Make an API key and show it, this once',
  positionals: ['ORG'],
  options: { user: { type: 'string' }, 'org-wide': { type: 'boolean' }, name: { type: 'string' } },
  async run(context, args) {
    const email = optionText(args, 'user');
    if ((email === undefined) === (args.options['org-wide'] !== true)) {
      throw new UsageError('Say whose key it is: either --user EMAIL or --org-wide.');
    }
    const organization = await findOrganization(context, positional(args, 0));
    const owner = email === undefined ? null : await findMember(context, organization.id, email);
    const { id, key } = await createApiKey(context, organization.id, operatorDoer(context), {
      userId: owner?.userId ?? null,
      name: optionText(args, 'name') ?? '',
    });
    return { json: { id, key }, text: `${key}\n\nThis is ${id}. The key is shown only now: keep it safe.` };
  },
};

export const keyRevoke: StoreCommand = {
  name: 'key revoke',
  usage: 'ORG KEY_ID',
  summary: 'Revoke an API key, at once and for good',
  positionals: ['ORG', 'KEY_ID'],
  async run(context, args) {
    const organization = await findOrganization(context, positional(args, 0));
    const id = positional(args, 1);
    await revokeApiKey(context, organization.id, operatorDoer(context), id);
    return { json: { id }, text: `Revoked ${id}.` };
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
    const rows = keys.map(({ id, hint, owner, creator, lastUsedAt, name, revokedAt }) => [
      id,
      hint,
      owner ?? 'org-wide',
      `made by ${creator ?? 'the operator'}`,
      lastUsedAt === null ? 'never used' : `used ${new Date(lastUsedAt).toISOString()}`,
      revokedAt === null ? 'live' : 'revoked',
      name,
    ]);
    return {
      json: keys.map(({ owner: _owner, creator: _creator, ...key }) => key),
      text: table(rows, "There is no key yet: 'skein key create ORG --user EMAIL' makes one."),
    };
  },
};
