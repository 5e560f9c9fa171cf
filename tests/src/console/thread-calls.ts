import { eventually } from '../eventually.ts';
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
