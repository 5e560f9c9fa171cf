import type { Thread, ThreadList } from '../../../../client/src/index.ts';
import { optionText, optionWhole, positional, printable, table, UsageError } from '../command.ts';
import { threadForPeople } from './presentation.ts';
import type { RemoteCommand } from './remote-command.ts';
import { viewSteps } from './steps.ts';

const defaultLimit = 25;
const pageMax = 100;

export const threadsList: RemoteCommand = {
  name: 'threads list',
  usage: '[--account ID] [--limit N] [--all]',
  summary: `Show the threads that the credential can read, the most recently active first: ${defaultLimit} unless told`,
  positionals: [],
  options: { account: { type: 'string' }, limit: { type: 'string' }, all: { type: 'boolean' } },
  async runRemotely(args, { client, signal, terminal }) {
    const limit = optionWhole(args, 'limit');
    const all = args.options.all === true;
    if (limit === 0) throw new UsageError('--limit must be at least 1.');
    if (all && limit !== undefined) throw new UsageError('Say either --limit N or --all.');
    const wanted = all ? Number.POSITIVE_INFINITY : (limit ?? defaultLimit);
    const accountId = optionText(args, 'account');
    const list = client.threads.list({ accountId, limit: Math.min(wanted, pageMax), signal });
    const { threads, left } = await firstOf(list, wanted);
    if (left !== '') terminal.stderr.write(`${left}\n`);
    return {
      json: threads,
      text: table(threads.map(row), "There is no thread yet: 'skein ask' begins one."),
    };
  },
};

export const threadsGet: RemoteCommand = {
  name: 'threads get',
  usage: 'THREAD_ID [--wait]',
  summary: 'Show a thread with its messages; with --wait, once its reply has ended',
  positionals: ['THREAD_ID'],
  options: { wait: { type: 'boolean' } },
  async runRemotely(args, { client, signal, terminal }) {
    const id = positional(args, 0);
    const wait = args.options.wait === true;
    if (wait) {
      const view = viewSteps(terminal, false);
      await client.threads
        .wait(id, { onStep: view.onStep, signal })
        // A reply that has failed has ended, and is shown as it is.
        .catch((error) => {
          if (error?.reply === undefined) throw error;
        })
        .finally(() => view.end());
    }
    const { etag: _etag, ...found } = await client.threads.get(id, { signal });
    return {
      json: found,
      text: threadForPeople(found),
      ...(wait && found.status.state === 'error' && { exitCode: 1 }),
    };
  },
};

export const threadsRename: RemoteCommand = {
  name: 'threads rename',
  usage: 'THREAD_ID TITLE',
  summary: 'Give a thread another title, which moves it to the top of the list',
  positionals: ['THREAD_ID', 'TITLE'],
  async runRemotely(args, { client, signal }) {
    const thread = await client.threads.rename(positional(args, 0), positional(args, 1), { signal });
    return { json: thread, text: `${printable(thread.id)} is now '${printable(thread.title)}'.` };
  },
};

export const threadsDelete: RemoteCommand = {
  name: 'threads delete',
  usage: 'THREAD_ID',
  summary: 'Delete a thread, for everyone; a reply on its way is cancelled',
  positionals: ['THREAD_ID'],
  async runRemotely(args, { client, signal }) {
    const deleted = await client.threads.delete(positional(args, 0), { signal });
    return { json: deleted, text: `Deleted ${printable(deleted.id)}.` };
  },
};

/** The first so many threads, and a sentence about those that are left. */
async function firstOf(list: ThreadList, wanted: number): Promise<{ threads: Thread[]; left: string }> {
  const threads: Thread[] = [];
  for await (const { threads: page, nextCursor, truncated } of list.pages()) {
    const room = wanted - threads.length;
    threads.push(...page.slice(0, room));
    if (page.length > room || (page.length === room && nextCursor !== null)) {
      return { threads, left: 'There are more: --limit N or --all shows them.' };
    }
    if (nextCursor === null && truncated) {
      return { threads, left: 'There are more than a listing reaches: --account ID narrows it.' };
    }
  }
  return { threads, left: '' };
}

function row({ id, title, createdAt, updatedAt, accountId, published }: Thread): string[] {
  return [id, updatedAt ?? createdAt, published ? 'published' : '', accountId ?? '', title];
}
