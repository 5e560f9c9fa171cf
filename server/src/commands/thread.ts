import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import { findOrganization } from '../usecases/organization/organization.ts';
import { publishThread } from '../usecases/threads/publish-thread.ts';
import { positional, type StoreCommand } from './command.ts';

export const threadPublish = publishing('publish', true, 'Show a thread to its whole organization');
export const threadUnpublish = publishing('unpublish', false, 'Show a thread to its creator only');

function publishing(verb: string, published: boolean, summary: string): StoreCommand {
  return {
    name: `thread ${verb}`,
    usage: 'ORG THREAD_ID',
    summary,
    positionals: ['ORG', 'THREAD_ID'],
    async run(context, args) {
      const organization = await findOrganization(context, positional(args, 0));
      const id = positional(args, 1);
      await publishThread(context, organization.id, operatorInitiator(context), id, published);
      return {
        json: { id, published },
        text: `${id} is ${published ? 'published' : 'no longer published'}.`,
      };
    },
  };
}
