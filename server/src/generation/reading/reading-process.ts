import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { type DocumentText, type FileSource, fileFault, UnreadableDocument } from '../../domain/document.ts';
import { formatBytes, type Limits } from '../../domain/limits.ts';
import { termsOf } from '../retrieval/terms.ts';
import type { ReadingAnswer, ReadingTask } from './document-reader.ts';
import { bareName } from './formats.ts';
import { parseDocument } from './parse-document.ts';

// The program of a reading process: reads one file after the other, as the service asks for them.

/** The service takes in an answer with this many passages in about a millisecond. */
const passagesPerPart = 50;

/** The last document read, and how many of its passages were sent. */
let document: (DocumentText & { readonly name: string }) | undefined;
let sent = 0;

process.on('message', async (message: ReadingTask | 'next') => {
  process.send?.(message === 'next' ? nextPart() : await begin(message));
});
process.on('disconnect', () => process.exit());
exitWithService();

/** A parser may keep this process too busy to notice that the service was killed, so a thread watches for it. */
function exitWithService(): void {
  const watch = `const service = process.ppid;
    setInterval(() => process.ppid === service || process.kill(process.pid, 'SIGKILL'), 1000);`;
  new Worker(watch, { eval: true }).unref();
}

async function begin({ name, source, limits }: ReadingTask): Promise<ReadingAnswer> {
  try {
    document = undefined;
    document = { ...(await parseDocument(name, bytesOf(source, limits), limits)), name: bareName(name) };
    sent = 0;
    const { title, url, passages } = document;
    const bytes = passages.reduce((sum, { heading, text }) => sum + Buffer.byteLength(heading + text), 0);
    return { head: { title, url, bytes }, passageCount: passages.length };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

function nextPart(): ReadingAnswer {
  const { title, name, passages } = document!;
  const part = passages.slice(sent, sent + passagesPerPart);
  sent += part.length;
  // A passage is also found by the headings above it, the title and the file's name.
  const indexed = part.map(({ heading, text }) => ({
    heading,
    text,
    terms: termsOf(`${title}\n${name}\n${heading}\n${text}`),
  }));
  return { part: indexed };
}

function faultOf(error: unknown): string {
  if (error instanceof UnreadableDocument) return error.message;
  if (error instanceof RangeError) return 'is nested too deeply to be read';
  return 'cannot be read: it may be damaged';
}

/** The size is checked before the file is read. */
function bytesOf(source: FileSource, limits: Limits): Uint8Array {
  if ('bytes' in source) {
    checkSize(source.bytes.byteLength, limits);
    return new Uint8Array(source.bytes);
  }
  const fd = openFile(source.path);
  try {
    const { size } = fstatSync(fd);
    checkSize(size, limits);
    // Not from Node's buffer pool: the PDF parser detaches the memory that it is given.
    const bytes = new Uint8Array(size);
    let at = 0;
    for (let count = -1; at < size && count !== 0; at += count)
      count = readSync(fd, bytes, at, size - at, at);
    return bytes.subarray(0, at);
  } finally {
    closeSync(fd);
  }
}

function openFile(path: string): number {
  try {
    const stats = statSync(path);
    if (stats.isDirectory()) throw new UnreadableDocument(fileFault('EISDIR'));
    // Opening a pipe would block until something writes to it.
    if (!stats.isFile()) throw new UnreadableDocument('is not a file');
    return openSync(path, 'r');
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    throw new UnreadableDocument(fileFault((error as NodeJS.ErrnoException).code), { cause: error });
  }
}

function checkSize(size: number, { documentBytesMax }: Limits): void {
  if (size === 0) throw new UnreadableDocument('is empty');
  if (size > documentBytesMax) {
    throw new UnreadableDocument(`is larger than ${formatBytes(documentBytesMax)}`);
  }
}
