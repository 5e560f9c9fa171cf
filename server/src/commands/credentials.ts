import { Option } from 'commander';
import { type RotationGrace, rotationGraces } from '../domain/credential.ts';
import { iso } from '../domain/time.ts';
import {
  type OrganizationCall,
  onOrganization,
  type Result,
  type StoreCommand,
  UsageError,
} from './command.ts';
import { listing } from './output.ts';

export const commands: readonly StoreCommand[] = [
  onOrganization({
    name: 'key create',
    options: [
      new Option('--user <EMAIL>', 'Create a personal key for this member, which can read and write'),
      new Option('--org-wide', 'Create an org-wide key, which can only read published threads'),
      new Option('--name <NAME>', 'What the key is for'),
    ],
    summary: 'Create an API key and show it once',
    examples: ['key create Acme --user ada@example.com', 'key create Acme --org-wide --name Dashboard'],
    check({ user, orgWide }) {
      if ((user === undefined) !== (orgWide === true))
        throw new UsageError('Choose an owner: either --user EMAIL or --org-wide.');
    },
    async run(call: OrganizationCall<{ user?: string; name?: string }>) {
      const { user, name = '' } = call.options;
      const userId = user === undefined ? null : (await call.useCases.members.find(call, user)).userId;
      const { id, key } = await call.useCases.keys.create(call, { userId, name });
      return showKey(call, id, key);
    },
  }),
  onOrganization({
    name: 'key revoke',
    arguments: { '<KEY_ID>': 'Id of the key to revoke, key_…' },
    summary: 'Revoke an API key immediately and permanently',
    examples: ['key revoke Acme key_01…'],
    async run(call, id = '') {
      await call.useCases.keys.revoke(call, id);
      return { json: { id }, text: `Revoked ${id}.` };
    },
  }),
  onOrganization({
    name: 'key rotate',
    arguments: { '<KEY_ID>': 'Id of the key to replace, key_…' },
    options: [
      new Option(
        '--old-valid-for <TIME>',
        'How long the old key keeps working; by default, it is revoked immediately',
      ).choices(Object.keys(rotationGraces)),
    ],
    summary: 'Replace an API key and show the new one once. The old key can keep working for a while.',
    examples: ['key rotate Acme key_01… --old-valid-for 24h'],
    async run(call: OrganizationCall<{ oldValidFor?: RotationGrace }>, old = '') {
      const { oldValidFor = 'now' } = call.options;
      const { id, key } = await call.useCases.keys.rotate(call, old, { owners: 'all', oldValidFor });
      const ends = oldValidFor === 'now' ? 'is revoked' : `works for another ${oldValidFor}`;
      return showKey(call, id, key, ` ${old} ${ends}.`);
    },
  }),
  onOrganization({
    name: 'key list',
    summary: "Show an organization's API keys",
    examples: ['key list Acme'],
    async run({ useCases, organizationId }) {
      const keys = await useCases.keys.list(organizationId, 'all');
      const requests = await useCases.keyRequests.list(organizationId, 'all');
      const now = Date.now();
      const rows = keys.map(({ id, hint, owner, creator, lastUsedAt, name, revokedAt }) => ({
        ID: id,
        KEY: hint,
        OWNER: owner ?? 'org-wide',
        'CREATED BY': creator ?? 'operator',
        'LAST USED': lastUsedAt === null ? 'never' : iso(lastUsedAt),
        STATE: describeState(revokedAt, now),
        NAME: name,
      }));
      const requested = requests.map(({ id, owner, state, name }) => {
        return { ID: id, OWNER: owner, STATE: state, NAME: name };
      });
      const json = keys.map(({ owner: _owner, creator: _creator, ownedByService: _service, ...key }) => key);
      const list = listing(json, rows, "No keys yet: 'skein key create ORG --user EMAIL' creates one.");
      if (requested.length === 0) return list;
      return { json, text: [...list.text, '\nKey requests:', { rows: requested, whenEmpty: '' }] };
    },
  }),
  onOrganization({
    name: 'app create',
    options: [new Option('--name <NAME>', 'Name of the application').makeOptionMandatory()],
    summary:
      'Create an application and show its secret once. A program exchanges the secret for access tokens.',
    examples: ['app create Acme --name "Nightly report"'],
    run: async (call) =>
      showSecret(call, await call.useCases.applications.create(call, String(call.options.name))),
  }),
  onOrganization({
    name: 'app rotate',
    arguments: { '<CLIENT_ID>': 'Id of the application, app_…' },
    summary: 'Give an application a new secret. The old secret and all tokens stop working immediately.',
    examples: ['app rotate Acme app_01…'],
    run: async (call, id = '') => showSecret(call, await call.useCases.applications.rotate(call, id)),
  }),
  onOrganization({
    name: 'app delete',
    arguments: { '<CLIENT_ID>': 'Id of the application to delete, app_…' },
    summary: 'Delete an application. Its secret and all its tokens stop working immediately.',
    examples: ['app delete Acme app_01…'],
    async run(call, id = '') {
      await call.useCases.applications.remove(call, id);
      return { json: { id }, text: `Deleted ${id}.` };
    },
  }),
  onOrganization({
    name: 'app list',
    summary: "Show an organization's applications",
    examples: ['app list Acme'],
    async run(call) {
      const applications = await call.useCases.applications.list(call.organizationId);
      const rows = applications.map(({ id, name, rotatedAt }) => ({
        ID: id,
        NAME: name,
        SECRET: rotatedAt === null ? 'never rotated' : `rotated ${iso(rotatedAt)}`,
      }));
      const json = applications.map((application) => ({ ...application, clientId: application.id }));
      return listing(json, rows, "No applications yet: 'skein app create ORG --name NAME' creates one.");
    },
  }),
  {
    name: 'signing-key rotate',
    options: [new Option('--forget', 'Invalidate all existing tokens immediately')],
    summary: 'Sign access tokens with a new key. Existing tokens stay valid until they expire.',
    examples: ['signing-key rotate', 'signing-key rotate --forget'],
    async run(call) {
      const forget = call.options.forget === true;
      const id = await call.useCases.applications.rotateSigningKey(call.initiator, forget);
      const old = forget
        ? 'All existing access tokens are invalid.'
        : 'Existing tokens stay valid until they expire.';
      return { json: { id, forget }, text: `Signing with ${id} from now on. ${old}` };
    },
  },
];

type InOrganization = Pick<OrganizationCall, 'organizationId'>;

function showKey({ organizationId }: InOrganization, id: string, key: string, more = ''): Result {
  return {
    json: { id, key },
    text: `${key}\n\nThe key's id is ${id}. Store the key now: it is not shown again.${more}`,
    ifLost: `The key ${id} was created but could not be shown: 'skein key revoke ${organizationId} ${id}' ends it.`,
  };
}

function showSecret(
  { organizationId }: InOrganization,
  { id, clientSecret }: { id: string; clientSecret: string },
): Result {
  return {
    ifLost: `The secret of ${id} could not be shown: 'skein app rotate ${organizationId} ${id}' creates another.`,
    json: { id, clientId: id, clientSecret },
    text: `client ID      ${id}\nclient secret  ${clientSecret}\n\nStore the secret now: it is not shown again.`,
  };
}

function describeState(revokedAt: number | null, now: number): string {
  if (revokedAt === null) return 'active';
  return revokedAt > now ? `ends ${iso(revokedAt)}` : 'revoked';
}
