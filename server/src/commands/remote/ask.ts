import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Option } from 'commander';
import { type Arguments, optionText, UsageError } from '../command.ts';
import { replyText } from './presentation.ts';
import type { RemoteCommand } from './remote-command.ts';
import { type Terminal, viewSteps } from './terminal.ts';

export const ask: RemoteCommand = {
  name: 'ask',
  arguments: '[PROMPT]',
  options: [
    new Option('--account <ID>', 'The account that the thread belongs to'),
    new Option('--title <TITLE>', 'Title of the thread; derived from the question by default'),
    new Option('--verbose', 'Print the steps of the reply on standard error'),
  ],
  summary: 'Ask a question and show the reply; without PROMPT, or with -, reads standard input',
  examples: ['ask "How long do refunds take?"', 'ask --account acct_42 < question.txt > answer.txt'],
  async runRemotely(args, { client, signal, terminal }) {
    const prompt = await promptIn(args, terminal, signal);
    const view = viewSteps(terminal, args.options.verbose === true);
    try {
      const { thread, reply } = await client.threads.ask(prompt, {
        accountId: optionText(args, 'account'),
        title: optionText(args, 'title'),
        onStep: view.onStep,
        signal,
      });
      // A pipe gets only the text of the reply.
      const text = terminal.stdout.isTTY ? replyText(reply, thread) : reply.content;
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
