import { setTimeout as pause } from 'node:timers/promises';
import type { Request, Target } from './load.ts';

const threadsPath = '/api/v1/threads';
const unchangedMax = 500;

export function get(path: string, key: string): Request {
  return { method: 'GET', path, headers: { authorization: `Bearer ${key}` } };
}

export function getThreads(ids: readonly string[], key: string): Request[] {
  return ids.map((id) => get(`${threadsPath}/${id}`, key));
}

/** Requests with the ETags of threads that do not change: the responses are 304. */
export async function unchangedThreads(
  service: Target,
  ids: readonly string[],
  key: string,
): Promise<Request[]> {
  const requests: Request[] = [];
  for (const request of getThreads(ids.slice(0, unchangedMax), key)) {
    const response = await fetch(service.baseUrl + request.path, { headers: request.headers });
    await response.text();
    const etag = response.headers.get('etag')!;
    requests.push({ ...request, headers: { ...request.headers, 'if-none-match': etag } });
  }
  return requests;
}

/** Exchanges the application's credentials for an access token. */
export async function accessToken(
  service: Target,
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
): Promise<string> {
  const { access_token } = await answer(service, {
    method: 'POST',
    path: '/oauth2/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `grant_type=client_credentials&client_id=${clientId}&client_secret=${clientSecret}`,
  });
  return access_token;
}

export function listFirstPage(key: string, accountId?: string): Request[] {
  return [get(accountId === undefined ? threadsPath : `${threadsPath}?accountId=${accountId}`, key)];
}

/** Typical create requests, some with an account. Replies are generated in the background as usual. */
export function createThreads(key: string): Request[] {
  return Array.from({ length: 256 }, (_, number) => ({
    method: 'POST',
    path: threadsPath,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      prompt: `What changed for customer ${number}? Look at the support tickets and say what matters.`,
      ...(number % 5 > 2 && { accountId: `account-${number % 4}` }),
    }),
  }));
}

const replyWithinMs = 10_000;

/** Creates a thread, waits for its reply and returns the thread's id. */
export async function createThreadAndAwaitReply(service: Target, key: string): Promise<string> {
  const { thread } = await answer(service, createThreads(key)[0]!);
  for (let waitedMs = 0; waitedMs < replyWithinMs; waitedMs += 20) {
    const { status } = await answer(service, get(`${threadsPath}/${thread.id}`, key));
    if (status.state === 'idle') return thread.id;
    await pause(20);
  }
  throw new Error(`No reply within ${replyWithinMs} ms.`);
}

export function renameThreads(ids: readonly string[], key: string): Request[] {
  return ids.map((id, number) => ({
    method: 'PATCH',
    path: `${threadsPath}/${id}`,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: `Renewal of customer ${number}` }),
  }));
}

/** Requests the page of 25 at a depth, reached by walking as a caller would. */
export async function listAtDepth(
  service: Target,
  key: string,
  depth: number,
  accountId?: string,
): Promise<Request[]> {
  let query = accountId === undefined ? '' : `&accountId=${accountId}`;
  const filter = query;
  for (let walked = 0; walked < depth; ) {
    const limit = Math.min(100, depth - walked);
    const page = await answer(service, get(`${threadsPath}?limit=${limit}${query}`, key));
    if (page.nextCursor === null) throw new Error(`The listing ends before ${depth} threads.`);
    walked += page.threads.length;
    query = `${filter}&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
  return [get(`${threadsPath}?limit=25${query}`, key)];
}

/** Returns how many threads a walk shows, and whether the listing was truncated. */
export async function walk(
  service: Target,
  key: string,
  accountId?: string,
): Promise<{ threads: number; truncated: boolean }> {
  const filter = accountId === undefined ? '' : `&accountId=${accountId}`;
  const seen = new Set<string>();
  let cursor: string | null = '';
  let truncated = false;
  while (cursor !== null) {
    const position: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: any = await answer(service, get(`${threadsPath}?limit=100${filter}${position}`, key));
    for (const { id } of page.threads) seen.add(id);
    truncated = page.truncated;
    cursor = page.nextCursor;
  }
  return { threads: seen.size, truncated };
}

async function answer(service: Target, { method, path, headers, body }: Request): Promise<any> {
  const response = await fetch(service.baseUrl + path, { method, headers, body: body ?? null });
  if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}: ${await response.text()}`);
  return response.json();
}
