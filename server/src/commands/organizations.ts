import { listeningUrl } from '../config/config.ts';
import type { MemberRole } from '../domain/organization.ts';
import { invitationLink } from '../domain/sign-in.ts';
import {
  changeOrganization,
  createOrganization,
  listOrganizations,
} from '../usecases/organization/organization.ts';
import {
  addMember,
  findMember,
  type IssuedInvitation,
  inviteMember,
  listMembers,
  removeMember,
} from '../usecases/people/members.ts';
import {
  counted,
  type Options,
  onOrganization,
  optionText,
  optionWhole,
  type Result,
  type StoreCall,
  type StoreCommand,
  table,
  UsageError,
} from './command.ts';

export const organizationCommands: readonly StoreCommand[] = [
  {
    name: 'org create',
    createsStore: true,
    usage: 'NAME [--api on|off] [--quota N]',
    summary: 'Create an organization; its API is enabled unless --api off',
    async run({ context, initiator, options }, name = '') {
      const id = await createOrganization(context, initiator, { name, ...settingsOf(options) });
      return { json: { id }, text: `Created the organization ${name}: ${id}` };
    },
  },
  onOrganization({
    name: 'org set',
    usage: 'ORG [--api on|off] [--quota N]',
    summary: "Enable or disable an organization's API, or change its daily quota",
    check(options) {
      if (Object.keys(settingsOf(options)).length === 0)
        throw new UsageError('Nothing to change: add --api on|off, --quota N, or both.');
    },
    async run(call) {
      const { id, name } = call.organization;
      await changeOrganization(call, settingsOf(call.options));
      return { json: { id }, text: `Changed ${name} (${id}).` };
    },
  }),
  {
    name: 'org list',
    usage: '',
    summary: 'Show all organizations',
    async run({ context }) {
      const organizations = await listOrganizations(context);
      const rows = organizations.map(({ id, name, apiEnabled, dailyQuota }) => [
        id,
        name,
        apiEnabled ? 'API on' : 'API off',
        `${dailyQuota} requests a day`,
      ]);
      const text = table(rows, "No organizations yet: 'skein org create NAME' creates one.");
      return { json: organizations, text };
    },
  },
  onOrganization({
    name: 'member add',
    usage: 'ORG EMAIL [--role admin|member] [--service]',
    summary: 'Add a person and show a sign-in link; with --service, add an account for automation',
    async run(call, email = '') {
      const { config, options, organization } = call;
      const role = options.role as MemberRole | undefined;
      const member = { email, role, service: options.service === true };
      const { userId, invitation } = await addMember(call, member);
      const added = `Added ${email} to ${organization.name}: ${userId}`;
      if (invitation === null) return { json: { id: userId, invitation: null }, text: added };
      const { json, text } = showLink(config, userId, invitation);
      return { json, text: `${added}\n${text}` };
    },
  }),
  onOrganization({
    name: 'member invite',
    usage: 'ORG EMAIL',
    summary:
      'Create a new sign-in link for a member, which also resets the password; earlier links become invalid',
    async run(call, email = '') {
      const { userId } = await findMember(call.context, call.organizationId, email);
      // The operator is responsible for handing over the link, so it may also reset a forgotten password.
      return showLink(call.config, userId, await inviteMember(call, userId, { resets: true }));
    },
  }),
  onOrganization({
    name: 'member remove',
    usage: 'ORG EMAIL',
    summary: 'Remove a member and revoke their personal keys',
    async run(call, email = '') {
      const member = await findMember(call.context, call.organizationId, email);
      const { keysRevoked } = await removeMember(call, member);
      const keys = counted(keysRevoked, 'personal key');
      return { json: { id: member.userId }, text: `Removed ${email} and revoked ${keys}.` };
    },
  }),
  onOrganization({
    name: 'member list',
    usage: 'ORG',
    summary: "Show an organization's members",
    async run({ context, organizationId }) {
      const members = await listMembers(context, organizationId);
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
  }),
];

function settingsOf(options: Options): { apiEnabled?: boolean; dailyQuota?: number } {
  const api = optionText({ options }, 'api');
  const dailyQuota = optionWhole({ options }, 'quota');
  return { ...(api && { apiEnabled: api === 'on' }), ...(dailyQuota !== undefined && { dailyQuota }) };
}

/** Builds the same link as the service, from the same settings. */
function showLink(config: StoreCall['config'], id: string, { token }: IssuedInvitation): Result {
  const invitation = invitationLink(config.baseUrl ?? listeningUrl(config), token);
  const text = `This link signs them in once, within 7 days. Do not share it with anyone else:\n  ${invitation}`;
  return { json: { id, invitation }, text };
}
