import { readFileSync, statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { fileFault, indexedText, UnreadableDocument } from '../../domain/document.ts';
import { formatBytes, type Limits } from '../../domain/limits.ts';
import { termsOf } from '../retrieval/terms.ts';
import type { ReadingResult, ReadingTask } from './document-reader.ts';
import { parseDocument } from './parse-document.ts';

// The program of a reading process: reads one file after the other, as the service asks for them.

/** The service takes in an answer with this many passages in about a millisecond. */
const passagesPerPart = 50;

let answers: AsyncGenerator<ReadingResult>;

process.on('message', async (message: ReadingTask | 'next') => {
  if (message !== 'next') answers = answersTo(message);
  process.send?.((await answers.next()).value);
});
process.on('disconnect', () => process.exit());
watchLimits();

/**
 * A parser may keep this process too busy to notice that the service was killed, or that it uses too much memory, so a
 * thread watches for both. The arguments are the process id of the service, which may be dead before this process has
 * started, and the memory limit in MB. SIGUSR2 ends the process without a core dump.
 */
function watchLimits(): void {
  const [service, megabytesMax] = process.argv.slice(2).map(Number);
  const isOrphan = `process.ppid !== ${service}`;
  const isTooLarge = `process.memoryUsage.rss() > ${megabytesMax} * 2 ** 20`;
  const signal = `${isOrphan} ? 'SIGKILL' : ${isTooLarge} && 'SIGUSR2'`;
  const watch = `setInterval(() => { const signal = ${signal}; if (signal) process.kill(process.pid, signal); }, 100);`;
  new Worker(watch, { eval: true }).unref();
}

async function* answersTo({ name, path, limits }: ReadingTask): AsyncGenerator<ReadingResult> {
  try {
    const { title, url, passages } = await parseDocument(name, bytesOf(path, limits), limits);
    let bytes = 0;
    for (let next = 0; next < passages.length; ) {
      const part = passages.slice(next, next + passagesPerPart).map((passage) => {
        bytes += Buffer.byteLength(passage.heading + passage.text);
        return { ...passage, terms: termsOf(indexedText(name, title, passage)) };
      });
      next += part.length;
      yield next < passages.length ? { part } : { part, head: { title, url, bytes } };
    }
  } catch (error) {
    yield { fault: faultOf(error) };
  }
}

function faultOf(error: unknown): string {
  if (error instanceof UnreadableDocument) return error.message;
  if (error instanceof RangeError) return 'is nested too deeply to be read';
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall === undefined ? 'cannot be read: it may be damaged' : fileFault(code);
}

function bytesOf(path: string, { documentBytesMax }: Limits): Uint8Array {
  const stats = statSync(path);
  if (stats.isDirectory()) throw new UnreadableDocument(fileFault('EISDIR'));
  // Reading a pipe would block until something writes to it.
  if (!stats.isFile()) throw new UnreadableDocument('is not a file');
  if (stats.size === 0) throw new UnreadableDocument('is empty');
  if (stats.size > documentBytesMax)
    throw new UnreadableDocument(`is larger than ${formatBytes(documentBytesMax)}`);
  // A copy, because the PDF parser does not accept a `Buffer`.
  return new Uint8Array(readFileSync(path));
}
