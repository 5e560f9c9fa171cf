/** A worker thread for tests of the pool. Its prompt decides how it misbehaves. */
import { parentPort } from 'node:worker_threads';
import type { Outcome, Task, ToThread } from '../src/generation/threads/model-threads.ts';

parentPort?.on('message', (message: ToThread) => {
  if (message.type === 'tasks') tell(message.tasks.flatMap((task) => misbehave(task) ?? []));
  else if (message.type === 'abort') tell([{ failure: { message: 'aborted' } }]);
});

function tell(outcomes: readonly Outcome[]): void {
  if (outcomes.length > 0) parentPort?.postMessage({ type: 'outcomes', outcomes });
}

function misbehave(task: Task): Outcome | undefined {
  const prompt = task.kind === 'reply' ? task.request.conversation[0]?.content : undefined;
  switch (prompt) {
    case 'crash':
      throw new Error('crashed on purpose');
    case 'loop':
      for (;;);
    case 'wait':
      return undefined;
    default:
      return { result: [{ type: 'text', text: String(prompt) }] };
  }
}
