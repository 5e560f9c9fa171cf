import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Option } from 'commander';
import type { Thread, ThreadList } from '../../../../client/src/index.ts';
import { environmentOfOthers } from '../../config/environment-of-others.ts';
import { type Arguments, UsageError, whole } from '../command.ts';
import { jsonLine, listing, printable } from '../output.ts';
import type { RemoteCommand } from './remote-command.ts';
import { replyNotes, replyText, threadText, viewReply } from './terminal.ts';

const defaultLimit = 25;
const pageMax = 100;
const accountOption = new Option('--account <ID>', 'Only threads of this account');
function moreThanListed(account: string | undefined): string {
  const remedy = 'the operator can raise SKEIN_PAGINATION_WINDOW';
  return `There are more threads than a listing can return: ${account ? remedy : `use --account ID, or ${remedy}`}.`;
}

type ListOptions = { account?: string; limit?: number; all?: boolean };

const threadsCommands: readonly RemoteCommand[] = [
  {
    name: 'threads list',
    options: [
      accountOption,
      new Option('--limit <N>', `How many threads; ${defaultLimit} by default`).argParser(whole(1)),
      new Option('--all', 'All threads'),
    ],
    summary: 'List the threads that the credential can read. The most recently active thread comes first.',
    examples: ['threads list --limit 5', 'threads list --account acct_42 --all --json'],
    async runRemotely({ options }: Arguments<ListOptions>, { client, signal }) {
      const { account: accountId, limit, all } = options;
      if (all && limit !== undefined) throw new UsageError('Use either --limit N or --all, not both.');
      const wanted = all ? Number.POSITIVE_INFINITY : (limit ?? defaultLimit);
      const list = client.threads.list({ accountId, limit: Math.min(wanted, pageMax), signal });
      const { threads, hint } = await readFirst(list, wanted, accountId);
      if (hint !== '') process.stderr.write(`${hint}\n`);
      return listing(threads, threads.map(row), "No threads yet: 'skein ask' creates one.");
    },
  },
  {
    name: 'threads get',
    arguments: { '<THREAD_ID>': 'Id of the thread, thr_…' },
    options: [new Option('--wait', 'Wait for the reply to finish')],
    summary: 'Show a thread with its messages. With --wait, waits until its reply is finished.',
    examples: ['threads get thr_01… --wait'],
    async runRemotely({ positionals, options }: Arguments<{ wait?: boolean }>, { client, signal }) {
      const [id = ''] = positionals;
      const { wait = false } = options;
      if (wait) {
        const view = viewReply(process);
        await client.threads
          .wait(id, { onStep: view.onStep, signal })
          // A failed reply has ended and is shown.
          .catch((error) => {
            if (error?.reply === undefined) throw error;
          })
          .finally(() => view.end());
      }
      const { etag: _etag, ...found } = await client.threads.get(id, { signal });
      const exitCode = wait && found.status.state === 'error' ? 1 : 0;
      return { json: found, text: threadText(found), exitCode };
    },
  },
  {
    name: 'threads rename',
    arguments: { '<THREAD_ID>': 'Id of the thread, thr_…', '<TITLE>': 'The new title, in quotes' },
    summary: 'Rename a thread, which moves it to the top of the list',
    examples: ['threads rename thr_01… "Refunds in March"'],
    async runRemotely({ positionals: [id = '', title = ''] }, { client, signal }) {
      const thread = await client.threads.rename(id, title, { signal });
      return { json: thread, text: `${printable(thread.id)} is now '${printable(thread.title)}'.` };
    },
  },
  {
    name: 'threads delete',
    arguments: { '<THREAD_ID>': 'Id of the thread to delete, thr_…' },
    summary: 'Delete a thread for everyone. A running reply is cancelled.',
    examples: ['threads delete thr_01…'],
    async runRemotely({ positionals: [id = ''] }, { client, signal }) {
      const deleted = await client.threads.delete(id, { signal });
      return { json: deleted, text: `Deleted ${printable(deleted.id)}.` };
    },
  },
  {
    name: 'threads export',
    options: [accountOption],
    summary: 'Print every thread with its messages, one JSON object per line',
    examples: ['threads export > threads.jsonl'],
    async runRemotely({ options }: Arguments<{ account?: string }>, { client, signal }) {
      const list = client.threads.list({ accountId: options.account, signal });
      let isCut = false;
      for await (const { threads, truncated } of list.pages()) {
        isCut = truncated;
        for (const { id } of threads) {
          const found = await client.threads.get(id, { signal }).catch((error) => {
            // The thread was deleted after it was listed.
            if (error?.code === 'NOT_FOUND') return undefined;
            throw error;
          });
          if (found === undefined) continue;
          const { thread, messages, status } = found;
          const taken = process.stdout.write(jsonLine({ thread, messages, status }));
          if (!taken) await once(process.stdout, 'drain', { signal });
        }
      }
      if (isCut) throw new UsageError(`The export is incomplete. ${moreThanListed(options.account)}`);
      return undefined;
    },
  },
];

/** The first threads up to `wanted`, and a sentence if there are more. */
async function readFirst(list: ThreadList, wanted: number, account?: string) {
  const threads: Thread[] = [];
  for await (const { threads: page, nextCursor, truncated } of list.pages()) {
    const room = wanted - threads.length;
    threads.push(...page.slice(0, room));
    if (page.length > room || (page.length === room && nextCursor !== null)) {
      return { threads, hint: 'There are more threads: use --limit N or --all.' };
    }
    if (nextCursor === null && truncated) {
      return { threads, hint: moreThanListed(account) };
    }
  }
  return { threads, hint: '' };
}

function row({ id, title, createdAt, updatedAt, accountId, published }: Thread) {
  return {
    ID: id,
    ACTIVE: updatedAt ?? createdAt,
    VISIBILITY: published ? 'published' : 'private',
    ACCOUNT: accountId ?? '',
    TITLE: title,
  };
}

type AskOptions = { account?: string; title?: string; json?: boolean; open?: boolean; verbose?: boolean };

const ask: RemoteCommand = {
  name: 'ask',
  arguments: { '[PROMPT]': 'The question, in quotes; standard input if it is missing or -' },
  options: [
    new Option('--account <ID>', 'The account that the thread belongs to'),
    new Option('--title <TITLE>', 'Title of the thread; derived from the question by default'),
    new Option('--open', 'Open the thread in a browser'),
    new Option('--verbose', 'Print the steps of the reply on standard error'),
  ],
  summary:
    'Ask a question and show the reply. Without PROMPT, or with -, reads the question from standard input.',
  examples: ['ask "How long do refunds take?"', 'ask --account acct_42 < question.txt > answer.txt'],
  async runRemotely({ positionals: [given], options }: Arguments<AskOptions>, { client, signal }) {
    const prompt = given === undefined || given === '-' ? await readPrompt(signal) : given;
    const { account: accountId, title, json, open, verbose } = options;
    const view = viewReply(process, { verbose, text: !json });
    try {
      const { thread, reply } = await client.threads.ask(prompt, {
        accountId,
        title,
        onStep: view.onStep,
        onText: view.onText,
        signal,
      });
      view.end();
      if (open) await openInBrowser(thread);
      if (view.onText !== undefined) return { json: null, text: `\n${replyNotes(reply, thread)}` };
      // A pipe gets only the final text of the reply, because the text may be corrected or start again until then.
      const text = process.stdout.isTTY ? replyText(reply, thread, process.stdout) : reply.content;
      return { json: { thread, reply }, text };
    } finally {
      view.end();
    }
  },
};

export const commands = [ask, ...threadsCommands];

async function readPrompt(signal: AbortSignal): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('Enter your question, then press Ctrl-D on an empty line.\n');
  const bytes = await buffer(addAbortSignal(signal, process.stdin));
  const prompt = decode(bytes).replace(/\r?\n$/, '');
  if (prompt === '') {
    throw new UsageError('No question: use \'skein ask "…"\', or pass it on standard input.');
  }
  return prompt;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError('Standard input is not UTF-8 text.');
  }
}

/** How long to wait for the opener to fail. It may keep running for as long as the browser does. */
const openedMs = 3_000;

/** Prints the URL if no browser can be started. It comes from the service, so only http and https are opened. */
async function openInBrowser({ id, threadUrl }: Thread): Promise<void> {
  if (threadUrl === null || !/^https?:\/\/[^\s]+$/.test(threadUrl)) {
    process.stderr.write(`The service returned no URL for ${printable(id)}.\n`);
    return;
  }
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const env = environmentOfOthers(process.env);
  const child = spawn(opener, [threadUrl], { stdio: 'ignore', detached: true, env });
  const exitCode = await once(child, 'exit', { signal: AbortSignal.timeout(openedMs) }).then(
    ([code]) => code,
    (error: Error) => (error.name === 'AbortError' ? 0 : 1),
  );
  child.unref();
  if (exitCode !== 0) process.stderr.write(`Could not start a browser. Open ${printable(threadUrl)}\n`);
}
