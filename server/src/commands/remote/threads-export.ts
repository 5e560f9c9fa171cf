import { once } from 'node:events';
import { optionText } from '../command.ts';
import type { RemoteCommand } from './remote-command.ts';

export const threadsExport: RemoteCommand = {
  name: 'threads export',
  usage: '[--account ID]',
  summary: 'Print every thread with its messages, one JSON object per line',
  positionals: [],
  options: { account: { type: 'string' } },
  async runRemotely(args, { client, signal, terminal }) {
    for await (const { id } of client.threads.list({ accountId: optionText(args, 'account'), signal })) {
      const found = await client.threads.get(id, { signal }).catch((error) => {
        // The thread was deleted after it was listed.
        if (error?.code === 'NOT_FOUND') return undefined;
        throw error;
      });
      if (found === undefined) continue;
      const { thread, messages, status } = found;
      const taken = terminal.stdout.write(`${JSON.stringify({ thread, messages, status })}\n`);
      if (!taken) await once(terminal.stdout, 'drain', { signal });
    }
    return undefined;
  },
};
