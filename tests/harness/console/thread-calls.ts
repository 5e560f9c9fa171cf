import { eventually } from '../service/eventually.ts';
import type { ConsoleResponse } from './console-client.ts';
import { assertDone, type Visitor } from './visitor.ts';

/** The path of a thread, or of something that belongs to it, under its organization. */
export function at(threadId: string, path = ''): string {
  return `/threads/${threadId}${path}`;
}

/** Creates a thread and returns it as the console shows it. */
export async function ask(visitor: Visitor, prompt: string, change: object = {}): Promise<any> {
  return assertDone(await visitor.post('/threads', { prompt, ...change }), 201);
}

/** Polls until the last reply has ended. */
export async function untilEnded(visitor: Visitor, threadId: string): Promise<any> {
  return eventually(
    async () => assertDone(await visitor.get(at(threadId))),
    ({ state }) => state !== 'in_progress',
  );
}

export const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export function publish(visitor: Visitor, id: string, published = true): Promise<ConsoleResponse> {
  return visitor.call('PUT', at(id, '/published'), { body: { published } });
}

/** All threads of a listing, page by page. */
export async function walk(visitor: Visitor, query: Record<string, string>): Promise<any[]> {
  const threads: any[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const asked = new URLSearchParams({ ...query, ...(cursor && { cursor }) });
    const body = assertDone(await visitor.get(`/threads?${asked}`));
    threads.push(...body.threads);
    cursor = body.nextCursor;
  }
  return threads;
}

export function listTitles(body: any): string[] {
  return body.threads.map(({ title }: any) => title);
}
