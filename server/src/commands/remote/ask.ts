import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Option } from 'commander';
import type { Thread } from '../../../../client/src/index.ts';
import { type Arguments, optionText, UsageError } from '../command.ts';
import { printable } from '../output.ts';
import type { RemoteCommand } from './remote-command.ts';
import { replyNotes, replyText, type Terminal, viewReply } from './terminal.ts';

export const ask: RemoteCommand = {
  name: 'ask',
  arguments: { '[PROMPT]': 'The question, in quotes; standard input if it is missing or -' },
  options: [
    new Option('--account <ID>', 'The account that the thread belongs to'),
    new Option('--title <TITLE>', 'Title of the thread; derived from the question by default'),
    new Option('--open', 'Open the thread in a browser'),
    new Option('--verbose', 'Print the steps of the reply on standard error'),
  ],
  summary: 'Ask a question and show the reply; without PROMPT, or with -, reads standard input',
  examples: ['ask "How long do refunds take?"', 'ask --account acct_42 < question.txt > answer.txt'],
  async runRemotely(args, { client, signal, terminal }) {
    const prompt = await promptIn(args, terminal, signal);
    const { json, open, verbose } = args.options;
    const view = viewReply(terminal, { verbose: verbose === true, text: json !== true });
    try {
      const { thread, reply } = await client.threads.ask(prompt, {
        accountId: optionText(args, 'account'),
        title: optionText(args, 'title'),
        onStep: view.onStep,
        onText: view.onText,
        signal,
      });
      view.end();
      if (open === true) await openInBrowser(thread, terminal);
      if (view.onText !== undefined) return { json: null, text: `\n${replyNotes(reply, thread)}` };
      // A pipe gets only the final text of the reply, because the text may be corrected or start again until then.
      const text = terminal.stdout.isTTY ? replyText(reply, thread, terminal.stdout) : reply.content;
      return { json: { thread, reply }, text };
    } finally {
      view.end();
    }
  },
};

async function promptIn(
  { positionals }: Arguments,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string> {
  const [given = '-'] = positionals;
  if (given !== '-') return given;
  if (terminal.stdin.isTTY)
    terminal.stderr.write('Enter your question, then press Ctrl-D on an empty line.\n');
  const bytes = await buffer(addAbortSignal(signal, terminal.stdin));
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

/** Prints the address if no browser can be started. The address comes from the service, so only web addresses are opened. */
async function openInBrowser({ id, threadUrl }: Thread, { stderr, env }: Terminal): Promise<void> {
  if (threadUrl === null || !/^https?:\/\/[^\s]+$/.test(threadUrl)) {
    stderr.write(`The service returned no URL for ${printable(id)}.\n`);
    return;
  }
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(opener, [threadUrl], { stdio: 'ignore', detached: true, env });
  const exitCode = await once(child, 'exit', { signal: AbortSignal.timeout(openedMs) }).then(
    ([code]) => code,
    (error: Error) => (error.name === 'AbortError' ? 0 : 1),
  );
  child.unref();
  if (exitCode !== 0) stderr.write(`No browser could be started. Open ${printable(threadUrl)}\n`);
}
