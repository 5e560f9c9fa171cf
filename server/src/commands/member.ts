import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import { findOrganization } from '../usecases/organization/organization.ts';
import { inviteMember } from '../usecases/people/invite-member.ts';
import { addMember, findMember, listMembers, removeMember } from '../usecases/people/members.ts';
import { counted, optionChoice, positional, type StoreCommand, table } from './command.ts';
import { invitationLinkFor } from './public-url.ts';

export const memberAdd: StoreCommand = {
  name: 'member add',
  usage: 'ORG EMAIL [--role admin|member] [--service]',
  summary: 'Add a person and show a sign-in link; with --service, add an account for automation',
  positionals: ['ORG', 'EMAIL'],
  options: { role: { type: 'string' }, service: { type: 'boolean' } },
  async run(context, args, config) {
    const organization = await findOrganization(context, positional(args, 0));
    const email = positional(args, 1);
    const role = optionChoice(args, 'role', ['admin', 'member']);
    const service = args.options.service === true;
    const { userId, invitation } = await addMember(context, organization.id, operatorInitiator(context), {
      email,
      service,
      ...(role && { role }),
    });
    const added = `Added ${email} to ${organization.name}: ${userId}`;
    if (invitation === null) return { json: { id: userId, invitation: null }, text: added };
    const link = invitationLinkFor(config, invitation.token);
    return { json: { id: userId, invitation: link }, text: `${added}\n${linkText(link)}` };
  },
};

export const memberInvite: StoreCommand = {
  name: 'member invite',
  usage: 'ORG EMAIL',
  summary:
    'Create a new sign-in link for a member, which also resets the password; earlier links become invalid',
  positionals: ['ORG', 'EMAIL'],
  async run(context, args, config) {
    const organization = await findOrganization(context, positional(args, 0));
    const { userId } = await findMember(context, organization.id, positional(args, 1));
    // The operator is responsible for handing over the link, so it may also reset a forgotten password.
    const invitation = await inviteMember(context, organization.id, operatorInitiator(context), userId, {
      resets: true,
    });
    const link = invitationLinkFor(config, invitation.token);
    return { json: { id: userId, invitation: link }, text: linkText(link) };
  },
};

function linkText(link: string): string {
  return `This link signs them in once, within 7 days. Do not share it with anyone else:\n  ${link}`;
}

export const memberRemove: StoreCommand = {
  name: 'member remove',
  usage: 'ORG EMAIL',
  summary: 'Remove a member and revoke their personal keys',
  positionals: ['ORG', 'EMAIL'],
  async run(context, args) {
    const organization = await findOrganization(context, positional(args, 0));
    const member = await findMember(context, organization.id, positional(args, 1));
    const initiator = operatorInitiator(context);
    const { keysRevoked } = await removeMember(context, organization.id, initiator, member);
    const keys = counted(keysRevoked, 'personal key');
    return { json: { id: member.userId }, text: `Removed ${positional(args, 1)} and revoked ${keys}.` };
  },
};

export const memberList: StoreCommand = {
  name: 'member list',
  usage: 'ORG',
  summary: "Show an organization's members",
  positionals: ['ORG'],
  async run(context, args) {
    const organization = await findOrganization(context, positional(args, 0));
    const members = await listMembers(context, organization.id);
    const rows = members.map(({ userId, email, role, service }) => [
      userId,
      email,
      service ? `${role}, service` : role,
    ]);
    return {
      json: members.map(({ userId, keys, state, ...rest }) => ({ id: userId, ...rest })),
      text: table(rows, "No members yet: 'skein member add ORG EMAIL' adds one."),
    };
  },
};
