/** A worker thread for tests of the pool. Its prompt decides how it misbehaves. */
import { parentPort } from 'node:worker_threads';
import type { Task, ToThread } from '../src/generation/threads/model-threads.ts';

parentPort?.on('message', (message: ToThread) => {
  if (message.type === 'task') misbehave(message.task);
  else if (message.type === 'abort')
    parentPort?.postMessage({ type: 'failure', failure: { message: 'aborted' } });
});

function misbehave(task: Task): void {
  const prompt = task.kind === 'reply' ? task.request.conversation[0]?.content : undefined;
  switch (prompt) {
    case 'crash':
      throw new Error('crashed on purpose');
    case 'loop':
      for (;;);
    case 'wait':
      return;
    default:
      parentPort?.postMessage({ type: 'result', result: [{ type: 'text', text: String(prompt) }] });
  }
}
