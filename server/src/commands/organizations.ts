import { Option } from 'commander';
import { counted } from '../../../runtime/src/pure/text.ts';
import { type MemberRole, memberRoles } from '../domain/organization.ts';
import type { IssuedInvitation } from '../usecases/people/invitations.ts';
import {
  type OrganizationCall,
  onOrganization,
  type StoreCall,
  type StoreCommand,
  UsageError,
  whole,
} from './command.ts';
import { listing, printable } from './output.ts';

interface Settings {
  readonly api?: 'on' | 'off';
  readonly quota?: number;
}

const settingOptions = [
  new Option('--api <STATE>', 'Enable or disable the public API').choices(['on', 'off']),
  new Option('--quota <N>', 'API requests per UTC day').argParser(whole()),
];

export const commands: readonly StoreCommand[] = [
  {
    name: 'org create',
    createsStore: true,
    arguments: { '<NAME>': 'Name of the new organization' },
    options: settingOptions,
    summary: 'Create an organization. Its API is enabled unless you pass --api off.',
    examples: ['org create Acme', 'org create "Acme Labs" --quota 50000'],
    async run({ useCases: { organizations }, initiator, options }: StoreCall<Settings>, name = '') {
      const isTaken = (await organizations.list()).some((one) => one.name === name);
      const id = await organizations.create(initiator, { name, ...parseSettings(options) });
      if (isTaken)
        process.stderr.write(
          `Another organization is also called ${printable(name)}: use ids in commands, not the name.\n`,
        );
      return { json: { id }, text: `Created the organization ${name}: ${id}` };
    },
  },
  onOrganization({
    name: 'org set',
    options: settingOptions,
    summary: "Change an organization's API access or quota",
    examples: ['org set Acme --quota 50000', 'org set Acme --api off'],
    check(options: Settings) {
      if (Object.keys(parseSettings(options)).length === 0)
        throw new UsageError('Nothing to change: add --api on|off, --quota N, or both.');
    },
    async run(call: OrganizationCall<Settings>) {
      const { id, name } = call.organization;
      await call.useCases.organizations.change(call, parseSettings(call.options));
      return { json: { id }, text: `Changed ${name} (${id}).` };
    },
  }),
  {
    name: 'org list',
    summary: 'Show all organizations',
    examples: ['org list', 'org list --json'],
    async run({ useCases }) {
      const organizations = await useCases.organizations.list();
      const rows = organizations.map(({ id, name, apiEnabled, dailyQuota }) => ({
        ID: id,
        NAME: name,
        API: apiEnabled ? 'API enabled' : 'API disabled',
        QUOTA: `${counted(dailyQuota, 'request')} a day`,
      }));
      return listing(organizations, rows, "No organizations yet: 'skein org create NAME' creates one.");
    },
  },
  onOrganization({
    name: 'member add',
    arguments: { '<EMAIL>': 'Email address of the new member' },
    options: [
      new Option('--role <ROLE>', 'Role in the organization; member by default').choices(memberRoles),
      new Option('--service', 'Add a service account, which is for automation and cannot sign in'),
    ],
    summary: 'Add a person and show their sign-in link',
    examples: ['member add Acme ada@example.com --role admin', 'member add Acme bot@example.com --service'],
    async run(call: OrganizationCall<{ role?: MemberRole; service?: boolean }>, email = '') {
      const { role, service = false } = call.options;
      const { userId, invitation } = await call.useCases.members.add(call, { email, role, service });
      const added = `Added ${email} to ${call.organization.name}: ${userId}`;
      if (invitation === null) return { json: { id: userId, invitation: null }, text: added };
      const { text, ...rest } = showLink(call, userId, email, invitation);
      return { ...rest, text: `${added}\n${text}` };
    },
  }),
  onOrganization({
    name: 'member invite',
    arguments: { '<EMAIL>': 'Email address of the member' },
    summary:
      'Create a new sign-in link for a member. Earlier links become invalid, and a member who has already joined must choose a new password.',
    examples: ['member invite Acme ada@example.com'],
    async run(call, email = '') {
      const { userId } = await call.useCases.members.find(call, email);
      const invitation = await call.useCases.members.invite(call, userId);
      warnOfClosing(email, invitation);
      return showLink(call, userId, email, invitation);
    },
  }),
  onOrganization({
    name: 'member remove',
    arguments: { '<EMAIL>': 'Email address of the member to remove' },
    summary: 'Remove a member and revoke their personal keys',
    examples: ['member remove Acme ada@example.com'],
    async run(call, email = '') {
      const member = await call.useCases.members.find(call, email);
      const { keysRevoked } = await call.useCases.members.remove(call, member);
      const keys = counted(keysRevoked, 'personal key');
      return { json: { id: member.userId }, text: `Removed ${email} and revoked ${keys}.` };
    },
  }),
  onOrganization({
    name: 'member list',
    summary: "Show an organization's members",
    examples: ['member list Acme'],
    async run(call) {
      const members = await call.useCases.members.list(call.organizationId);
      const rows = members.map(({ userId, email, role, service }) => ({
        ID: userId,
        EMAIL: email,
        ROLE: service ? `${role}, service` : role,
      }));
      const json = members.map(({ userId, keys, state, mailState, ...rest }) => ({ id: userId, ...rest }));
      return listing(json, rows, "No members yet: 'skein member add ORG EMAIL' adds one.");
    },
  }),
];

function parseSettings({ api, quota: dailyQuota }: Settings): { apiEnabled?: boolean; dailyQuota?: number } {
  return { ...(api && { apiEnabled: api === 'on' }), ...(dailyQuota !== undefined && { dailyQuota }) };
}

function warnOfClosing(email: string, { closes = [] }: IssuedInvitation): void {
  if (closes.length === 0) return;
  const names = closes.map(
    ({ organizationName, organizationId, role }) =>
      `${printable(organizationName)} (${organizationId}, ${role})`,
  );
  process.stderr.write(
    `When ${email} uses the link, they also lose access to ${names.join(', ')}. Afterwards, 'skein member invite' lets them join again.\n`,
  );
}

function showLink(
  { organizationId }: OrganizationCall,
  id: string,
  email: string,
  { link: invitation, mailed }: IssuedInvitation,
) {
  const sent = mailed ? `\nThe service also sends it to ${email} by email.` : '';
  const text = `This link signs them in once, within 7 days. Do not share it with anyone else:\n  ${invitation}`;
  const ifLost = `The link for ${email} could not be shown: 'skein member invite ${organizationId} ${email}' creates another.`;
  return { json: { id, invitation }, text: text + sent, ifLost };
}
