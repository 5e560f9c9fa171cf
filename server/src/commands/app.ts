import {
  createApplication,
  deleteApplication,
  listApplications,
  rotateApplication,
} from '../usecases/credentials/applications.ts';
import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import { findOrganization } from '../usecases/organization/organization.ts';
import { optionText, positional, type StoreCommand, table, UsageError } from './command.ts';

export const appCreate: StoreCommand = {
  name: 'app create',
  usage: 'ORG --name N',
  summary: 'Create a machine-to-machine application and show its secret once',
  positionals: ['ORG'],
  options: { name: { type: 'string' } },
  async run(context, args) {
    const name = optionText(args, 'name');
    if (name === undefined) throw new UsageError('Enter a name for the application: --name N.');
    const organization = await findOrganization(context, positional(args, 0));
    const { id, clientSecret } = await createApplication(
      context,
      organization.id,
      operatorInitiator(context),
      name,
    );
    return { json: { id, clientId: id, clientSecret }, text: shown(id, clientSecret) };
  },
};

export const appRotate: StoreCommand = {
  name: 'app rotate',
  usage: 'ORG CLIENT_ID',
  summary: 'Give an application a new secret; the old one and all its tokens stop working now',
  positionals: ['ORG', 'CLIENT_ID'],
  async run(context, args) {
    const organization = await findOrganization(context, positional(args, 0));
    const id = positional(args, 1);
    const { clientSecret } = await rotateApplication(
      context,
      organization.id,
      operatorInitiator(context),
      id,
    );
    return { json: { id, clientId: id, clientSecret }, text: shown(id, clientSecret) };
  },
};

export const appDelete: StoreCommand = {
  name: 'app delete',
  usage: 'ORG CLIENT_ID',
  summary: 'Delete an application; its secret and all its tokens stop working now',
  positionals: ['ORG', 'CLIENT_ID'],
  async run(context, args) {
    const organization = await findOrganization(context, positional(args, 0));
    const id = positional(args, 1);
    await deleteApplication(context, organization.id, operatorInitiator(context), id);
    return { json: { id }, text: `Deleted ${id}.` };
  },
};

export const appList: StoreCommand = {
  name: 'app list',
  usage: 'ORG',
  summary: "Show an organization's applications",
  positionals: ['ORG'],
  async run(context, args) {
    const organization = await findOrganization(context, positional(args, 0));
    const applications = await listApplications(context, organization.id);
    const rows = applications.map(({ id, name, rotatedAt }) => [
      id,
      name,
      rotatedAt === null ? 'first secret' : `rotated ${new Date(rotatedAt).toISOString()}`,
    ]);
    return {
      json: applications.map((application) => ({ ...application, clientId: application.id })),
      text: table(rows, "No applications yet: 'skein app create ORG --name N' creates one."),
    };
  },
};

function shown(clientId: string, clientSecret: string): string {
  return `client id      ${clientId}\nclient secret  ${clientSecret}\n\nStore the secret now: it is not shown again.`;
}
