import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import {
  changeOrganization,
  createOrganization,
  findOrganization,
  listOrganizations,
} from '../usecases/organization/organization.ts';
import {
  type Arguments,
  optionChoice,
  optionWhole,
  positional,
  type StoreCommand,
  table,
  UsageError,
} from './command.ts';

const options = { api: { type: 'string' }, quota: { type: 'string' } } as const;

function readChange(args: Arguments): { apiEnabled?: boolean; dailyQuota?: number } {
  const api = optionChoice(args, 'api', ['on', 'off']);
  const dailyQuota = optionWhole(args, 'quota');
  return { ...(api && { apiEnabled: api === 'on' }), ...(dailyQuota !== undefined && { dailyQuota }) };
}

export const orgCreate: StoreCommand = {
  name: 'org create',
  createsStore: true,
  usage: 'NAME [--api on|off] [--quota N]',
  summary: 'Create an organization; its API is enabled unless --api off',
  positionals: ['NAME'],
  options,
  async run(context, args) {
    const name = positional(args, 0);
    const id = await createOrganization(context, operatorInitiator(context), { name, ...readChange(args) });
    return { json: { id }, text: `Created the organization ${name}: ${id}` };
  },
};

export const orgSet: StoreCommand = {
  name: 'org set',
  usage: 'ORG [--api on|off] [--quota N]',
  summary: "Enable or disable an organization's API, or change its daily quota",
  positionals: ['ORG'],
  options,
  async run(context, args) {
    const change = readChange(args);
    if (Object.keys(change).length === 0)
      throw new UsageError('Nothing to change: add --api on|off, --quota N, or both.');
    const { id, name } = await findOrganization(context, positional(args, 0));
    await changeOrganization(context, id, operatorInitiator(context), change);
    return { json: { id }, text: `Changed ${name} (${id}).` };
  },
};

export const orgList: StoreCommand = {
  name: 'org list',
  usage: '',
  summary: 'Show all organizations',
  positionals: [],
  async run(context) {
    const organizations = await listOrganizations(context);
    const rows = organizations.map(({ id, name, apiEnabled, dailyQuota }) => [
      id,
      name,
      apiEnabled ? 'API on' : 'API off',
      `${dailyQuota} requests a day`,
    ]);
    return {
      json: organizations,
      text: table(rows, "No organizations yet: 'skein org create NAME' creates one."),
    };
  },
};
