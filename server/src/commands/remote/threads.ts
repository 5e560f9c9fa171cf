import type { Thread, ThreadList } from '../../../../client/src/index.ts';
import { optionText, optionWhole, positional, printable, table, UsageError } from '../command.ts';
import { threadText } from './presentation.ts';
import type { RemoteCommand } from './remote-command.ts';
import { viewSteps } from './steps.ts';

const defaultLimit = 25;
const pageMax = 100;

export const threadsList: RemoteCommand = {
  name: 'threads list',
  usage: '[--account ID] [--limit N] [--all]',
  summary: `List the threads that the credential can read, most recently active first; ${defaultLimit} by default`,
  positionals: [],
  options: { account: { type: 'string' }, limit: { type: 'string' }, all: { type: 'boolean' } },
  async runRemotely(args, { client, signal, terminal }) {
    const limit = optionWhole(args, 'limit');
    const all = args.options.all === true;
    if (limit === 0) throw new UsageError('--limit must be at least 1.');
    if (all && limit !== undefined) throw new UsageError('Use either --limit N or --all.');
    const wanted = all ? Number.POSITIVE_INFINITY : (limit ?? defaultLimit);
    const accountId = optionText(args, 'account');
    const list = client.threads.list({ accountId, limit: Math.min(wanted, pageMax), signal });
    const { threads, left } = await firstOf(list, wanted);
    if (left !== '') terminal.stderr.write(`${left}\n`);
    return {
      json: threads,
      text: table(threads.map(row), "No threads yet: 'skein ask' creates one."),
    };
  },
};

export const threadsGet: RemoteCommand = {
  name: 'threads get',
  usage: 'THREAD_ID [--wait]',
  summary: 'Show a thread with its messages; with --wait, after its reply has ended',
  positionals: ['THREAD_ID'],
  options: { wait: { type: 'boolean' } },
  async runRemotely(args, { client, signal, terminal }) {
    const id = positional(args, 0);
    const wait = args.options.wait === true;
    if (wait) {
      const view = viewSteps(terminal, false);
      await client.threads
        .wait(id, { onStep: view.onStep, signal })
        // A failed reply has ended and is shown.
        .catch((error) => {
          if (error?.reply === undefined) throw error;
        })
        .finally(() => view.end());
    }
    const { etag: _etag, ...found } = await client.threads.get(id, { signal });
    return {
      json: found,
      text: threadText(found),
      ...(wait && found.status.state === 'error' && { exitCode: 1 }),
    };
  },
};

export const threadsRename: RemoteCommand = {
  name: 'threads rename',
  usage: 'THREAD_ID TITLE',
  summary: 'Rename a thread, which moves it to the top of the list',
  positionals: ['THREAD_ID', 'TITLE'],
  async runRemotely(args, { client, signal }) {
    const thread = await client.threads.rename(positional(args, 0), positional(args, 1), { signal });
    return { json: thread, text: `${printable(thread.id)} is now '${printable(thread.title)}'.` };
  },
};

export const threadsDelete: RemoteCommand = {
  name: 'threads delete',
  usage: 'THREAD_ID',
  summary: 'Delete a thread for everyone; cancels a running reply',
  positionals: ['THREAD_ID'],
  async runRemotely(args, { client, signal }) {
    const deleted = await client.threads.delete(positional(args, 0), { signal });
    return { json: deleted, text: `Deleted ${printable(deleted.id)}.` };
  },
};

/** The first threads up to `wanted`, and a sentence if there are more. */
async function firstOf(list: ThreadList, wanted: number): Promise<{ threads: Thread[]; left: string }> {
  const threads: Thread[] = [];
  for await (const { threads: page, nextCursor, truncated } of list.pages()) {
    const room = wanted - threads.length;
    threads.push(...page.slice(0, room));
    if (page.length > room || (page.length === room && nextCursor !== null)) {
      return { threads, left: 'There are more threads: use --limit N or --all.' };
    }
    if (nextCursor === null && truncated) {
      return { threads, left: 'There are more threads than a listing can return: use --account ID.' };
    }
  }
  return { threads, left: '' };
}

function row({ id, title, createdAt, updatedAt, accountId, published }: Thread): string[] {
  return [id, updatedAt ?? createdAt, published ? 'published' : '', accountId ?? '', title];
}
