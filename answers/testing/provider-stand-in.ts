import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as wholeText } from 'node:stream/consumers';
import { answerWell, behaviors } from './provider-stand-in/behaviors.ts';
import {
  ChatCompletionEncoder,
  MessagesEncoder,
  readChatCompletion,
  readMessages,
} from './provider-stand-in/protocols.ts';

/** A request that the stand-in received. */
interface SeenRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: clients send anything.
  readonly body: any;
  /** Whether the connection was closed before the end of the response. */
  closedEarly: boolean;
}

export interface ProviderStandIn {
  /** Includes the version: `http://127.0.0.1:40123/v1`. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

/**
 * A provider of language models for tests, without a model. It speaks the protocols of OpenAI and Anthropic, and answers
 * with the first sentence of the first passage. A line of the prompt such as `!status 500` changes that: see
 * `behaviors`. `GET /requests` returns the requests so far.
 */
export async function startProvider(port = 0): Promise<ProviderStandIn> {
  const requests: SeenRequest[] = [];
  const failures = new Map<string, number>();
  const server = createServer((request, response) => {
    answer(request, response, requests, failures).catch(() => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  requests: SeenRequest[],
  failures: Map<string, number>,
): Promise<void> {
  const path = request.url ?? '';
  if (request.method === 'GET' && path === '/requests') {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(requests));
    return;
  }
  const body = JSON.parse(await wholeText(request));
  const seen = { path, headers: request.headers, body, closedEarly: false };
  requests.push(seen);
  response.on('close', () => {
    seen.closedEarly = !response.writableFinished;
  });
  const isChat = path === '/v1/chat/completions';
  if (!isChat && path !== '/v1/messages') return void response.writeHead(404).end();
  const asked = isChat ? readChatCompletion(body) : readMessages(body);
  const [, command = '', words = ''] = commandIn(asked.prompt);
  const behavior = behaviors[command] ?? answerWell;
  await behavior({
    asked,
    encoder: isChat ? new ChatCompletionEncoder() : new MessagesEncoder(),
    response,
    key: request.headers.authorization?.replace('Bearer ', '') ?? String(request.headers['x-api-key'] ?? ''),
    words,
    failures,
  });
}

function commandIn(prompt: string): string[] {
  return [...prompt.matchAll(/^!([a-z0-9-]+)(?: (.*))?$/gm)].at(-1) ?? [];
}

if (process.argv[1] === import.meta.filename) {
  const { url } = await startProvider(Number(process.argv[2] ?? 0));
  console.log(url);
}
