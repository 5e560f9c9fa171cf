import type { CapturedResponse } from './bare-server.ts';
import type { Request, Target } from './load.ts';
import { end, nextMessage, startPart } from './processes.ts';

interface BareServer extends Target {
  stop(): Promise<void>;
}

/** Headers that Node.js adds to every response. */
const addedByNode = new Set(['date', 'connection', 'keep-alive']);

/**
 * Starts a bare `node:http` server that repeats the service's response to this request, with the same headers and body.
 */
export async function startBareServer(service: Target, request: Request): Promise<BareServer> {
  const { method, headers, body } = request;
  const response = await fetch(service.baseUrl + request.path, { method, headers, body: body ?? null });
  if (!response.ok && response.status !== 304)
    throw new Error(`${method} ${request.path} gave ${response.status}.`);
  const answer: CapturedResponse = {
    status: response.status,
    headers: [...response.headers].filter(([name]) => !addedByNode.has(name)),
    body: await response.text(),
  };
  const child = startPart('bare-server.ts');
  child.send(answer);
  const port = await nextMessage<number>(child);
  return { baseUrl: `http://127.0.0.1:${port}`, pid: child.pid as number, stop: () => end(child) };
}
