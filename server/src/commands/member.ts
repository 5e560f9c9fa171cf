import { addMember } from '../usecases/add-member.ts';
import { findOrganization } from '../usecases/find-organization.ts';
import { removeMember } from '../usecases/remove-member.ts';
import { optionChoice, positional, type StoreCommand, table } from './command.ts';

export const memberAdd: StoreCommand = {
  name: 'member add',
  usage: 'ORG EMAIL [--role admin|member] [--service]',
  summary: 'Add a person, or with --service an account for automation',
  positionals: ['ORG', 'EMAIL'],
  options: { role: { type: 'string' }, service: { type: 'boolean' } },
  async run(context, args) {
    const organization = await findOrganization(context, positional(args, 0));
    const email = positional(args, 1);
    const role = optionChoice(args, 'role', ['admin', 'member']);
    const service = args.options.service === true;
    const id = await addMember(context, organization.id, { email, service, ...(role && { role }) });
    return { json: { id }, text: `Added ${email} to ${organization.name}: ${id}` };
  },
};

export const memberRemove: StoreCommand = {
  name: 'member remove',
  usage: 'ORG EMAIL',
  summary: 'Remove a member and revoke their personal keys',
  positionals: ['ORG', 'EMAIL'],
  async run(context, args) {
    const organization = await findOrganization(context, positional(args, 0));
    const { userId, keysRevoked } = await removeMember(context, organization.id, positional(args, 1));
    const keys = keysRevoked === 1 ? '1 personal key' : `${keysRevoked} personal keys`;
    return { json: { id: userId }, text: `Removed ${positional(args, 1)} and revoked ${keys}.` };
  },
};

export const memberList: StoreCommand = {
  name: 'member list',
  usage: 'ORG',
  summary: "Show an organization's members",
  positionals: ['ORG'],
  async run(context, args) {
    const organization = await findOrganization(context, positional(args, 0));
    const members = await context.store.listMembers(organization.id);
    const rows = members.map(({ userId, email, role, service }) => [
      userId,
      email,
      service ? `${role}, service` : role,
    ]);
    return {
      json: members.map(({ userId, ...rest }) => ({ id: userId, ...rest })),
      text: table(rows, "There is no member yet: 'skein member add ORG EMAIL' adds one."),
    };
  },
};
