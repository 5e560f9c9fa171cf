/** A worker thread for tests of the pool. Its prompt decides how it misbehaves. */
import { parentPort } from 'node:worker_threads';
import type { Call, Outcome, Tasks, ToThread } from '../src/threads/model-thread.ts';

parentPort?.on('message', (message: ToThread) => {
  if ('tasks' in message) tell(message.tasks.flatMap((task) => misbehave(task) ?? []));
  else ask();
});

function ask(): void {
  parentPort?.postMessage({ method: 'outlineDocuments', args: [] });
}

function tell(outcomes: readonly Outcome[]): void {
  if (outcomes.length > 0) parentPort?.postMessage({ outcomes });
}

function misbehave({ args }: Call<Tasks>): Outcome | undefined {
  const [{ conversation }] = args as Parameters<Tasks['reply']>;
  const prompt = conversation[0]?.content;
  switch (prompt) {
    case 'crash':
      throw new Error('crashed on purpose');
    case 'loop':
      for (;;);
    case 'ask':
      ask();
      return undefined;
    case 'wait':
      return undefined;
    default:
      return { result: [{ type: 'text', text: String(prompt) }] };
  }
}
