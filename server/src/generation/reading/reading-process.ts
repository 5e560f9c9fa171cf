import { Worker } from 'node:worker_threads';
import { type DocumentText, UnreadableDocument } from '../../domain/document.ts';
import { termsOf } from '../retrieval/terms.ts';
import type { ReadingAnswer, ReadingTask } from './document-reader.ts';
import { bareName } from './formats.ts';
import { parseDocument } from './parse-document.ts';
import { readFile } from './read-file.ts';

/** So many passages go into one answer: the service takes one in about a millisecond. */
const passagesPerPart = 50;

/** The document that was read last, and how many of its passages were sent. */
let document: (DocumentText & { readonly name: string }) | undefined;
let sent = 0;

// What runs in a process of its own: reads one file after the other, as they are asked for.
process.on('message', async (message: ReadingTask | 'next') => {
  process.send?.(message === 'next' ? nextPart() : await begin(message));
});
process.on('disconnect', () => process.exit());
endWithService();

/** The service may be killed while a parser keeps this process too busy to notice: a thread looks for it. */
function endWithService(): void {
  const watch = `const service = process.ppid;
    setInterval(() => process.ppid === service || process.kill(process.pid, 'SIGKILL'), 1000);`;
  new Worker(watch, { eval: true }).unref();
}

async function begin({ name, source, limits }: ReadingTask): Promise<ReadingAnswer> {
  try {
    document = undefined;
    document = { ...(await parseDocument(name, readFile(source, limits), limits)), name: bareName(name) };
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
  // A passage is also found by the headings above it, the title and the name of the file.
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
  return `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
