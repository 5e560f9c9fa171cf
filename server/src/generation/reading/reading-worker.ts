import { parentPort } from 'node:worker_threads';
import { UnreadableDocument } from '../../domain/document.ts';
import { parseDocument } from './parse-document.ts';
import type { ReadingOutcome, ReadingTask } from './read-in-worker.ts';

/** What runs in a worker thread: reads one file after the other, as they are asked for. */
parentPort?.on('message', async ({ name, bytes }: ReadingTask) => {
  parentPort?.postMessage(await outcomeOf(name, bytes));
});

async function outcomeOf(name: string, bytes: Uint8Array): Promise<ReadingOutcome> {
  try {
    return { document: await parseDocument(name, bytes) };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

function faultOf(error: unknown): string {
  if (error instanceof UnreadableDocument) return error.message;
  if (error instanceof RangeError) return 'is nested too deeply to be read';
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
