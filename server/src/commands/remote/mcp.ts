import type { McpServer } from '@modelcontextprotocol/server';
import type { Skein } from '../../../../client/src/index.ts';
import { packageVersion, readRemoteConfig } from '../../config/config.ts';
import type { ProcessCommand } from '../command.ts';
import { connect, presentFailure } from './remote-command.ts';
import { replyNotes } from './terminal.ts';

/** Agents give up on a call after 60 s unless they are configured otherwise. */
const askMs = 50_000;
const waitSeconds = 20;

const mcp: ProcessCommand = {
  name: 'mcp',
  summary: 'Serve threads to an agent. Runs a Model Context Protocol server on standard input and output.',
  examples: ['mcp'],
  async runProcess() {
    // Loaded here, so that the other commands start without it.
    const [sdk, { serveStdio }, z] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
      import('zod'),
    ]);
    const serve = () => {
      const server = new sdk.McpServer({ name: 'skein', version: packageVersion() }, { instructions });
      addTools(server, z);
      return server;
    };
    // Agents keep what is written to standard error in their logs.
    const onerror = ({ name, message }: Error) => {
      // The message of such an error is a page of JSON.
      const reason = name === 'ZodError' ? 'the agent sent a line that is not a JSON-RPC message' : message;
      process.stderr.write(`skein mcp: ${reason}\n`);
    };
    serveStdio(serve, { onerror });
    // The agent has gone, so nobody reads the result of a call in progress.
    process.stdin.once('end', () => process.exit(0));
    // It ends by itself only after an error: the agent has sent a line that is too long.
    return 1;
  },
};

export const commands = [mcp];

const instructions =
  "Skein answers questions from an organization's own documents, with numbered sources. Use ask for a question, and get_thread to read a thread or to wait for a slow reply.";

function addTools(server: McpServer, z: typeof import('zod')): void {
  const text = z.string().min(1);
  const threadId = text.describe('Id of the thread, thr_…');
  const accountId = text.optional().describe('The account that the thread belongs to');
  const reads = { readOnlyHint: true, openWorldHint: false };

  server.registerTool(
    'ask',
    {
      title: 'Ask Skein',
      description:
        "Ask a question and get the reply, which is based on the organization's documents and has numbered sources. Creates a thread.",
      inputSchema: z.object({
        prompt: text.describe('The question'),
        accountId,
        title: text.optional().describe('Title of the thread; derived from the question by default'),
      }),
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    },
    ({ prompt, ...options }, { mcpReq: { signal } }) =>
      toolResult(async (threads) => {
        try {
          const { reply, thread } = await threads.ask(prompt, { ...options, signal, timeoutMs: askMs });
          return `${reply.content}\n\n${replyNotes(reply, thread)}`;
        } catch (error) {
          const { code, threadId: id } = error as { code?: unknown; threadId?: string };
          if (code !== 'TIMEOUT' || id === undefined) throw error;
          return `The reply is still being written. Call get_thread with the thread id ${id} to wait for it.`;
        }
      }),
  );

  server.registerTool(
    'get_thread',
    {
      title: 'Get a thread',
      description: `Read a thread with all its messages, as JSON. If its reply is still being written, waits up to ${waitSeconds} s for it.`,
      inputSchema: z.object({ threadId }),
      annotations: reads,
    },
    (input, { mcpReq: { signal } }) =>
      toolResult(async (threads) => {
        const { thread, messages, status } = await threads.get(input.threadId, { waitSeconds, signal });
        return JSON.stringify({ thread, messages, status });
      }),
  );

  server.registerTool(
    'list_threads',
    {
      title: 'List threads',
      description:
        'List the threads that the API key can read, most recently active first, as JSON. Pass nextCursor as cursor to get the next page.',
      inputSchema: z.object({
        accountId,
        limit: z.number().int().min(1).max(100).default(20).describe('Threads per page'),
        cursor: text.optional().describe('nextCursor of the previous page'),
      }),
      annotations: reads,
    },
    ({ cursor, ...options }, { mcpReq: { signal } }) =>
      toolResult(async (threads) => JSON.stringify(await threads.list({ ...options, signal }).page(cursor))),
  );
}

/** A failure becomes the result of the tool, in words that an agent can pass on or act on. */
async function toolResult(ask: (threads: Skein['threads']) => Promise<string>) {
  try {
    const { threads } = await connect(readRemoteConfig(process.env));
    return { content: [{ type: 'text' as const, text: await ask(threads) }] };
  } catch (error) {
    const failure = presentFailure(error, false);
    const message = failure instanceof Error ? failure.message : String(failure);
    return { content: [{ type: 'text' as const, text: withToolNames(message) }], isError: true };
  }
}

/** Names tools where the advice names commands, which an agent does not have. */
function withToolNames(message: string): string {
  return message
    .replace(/'skein threads list'/, 'list_threads')
    .replace(/'skein threads get (\S+) --wait'/, 'get_thread with $1');
}
