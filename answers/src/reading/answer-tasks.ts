import { readSync, writeFileSync } from 'node:fs';
import { extractPassageTerms } from '../retrieval/terms.ts';
import type { parseDocument } from './parse-document.ts';
import type { ReadingResult, ReadingTask } from './reading-child.ts';
import { UnreadableDocument } from './unreadable-document.ts';

/** The service takes in an answer with this many passages in about a millisecond. */
const passagesPerPart = 50;

/** Reads one file after the other from standard input, as the service sends them, and writes the answers to descriptor 3. */
export async function answerTasks(parse: typeof parseDocument): Promise<void> {
  // Node's permission model has nothing to say about signals. SIGUSR1 would start a debugger in the service.
  for (const method of ['kill', '_kill', '_debugProcess']) Reflect.deleteProperty(process, method);
  for (let task = nextTask(); task !== undefined; task = nextTask()) {
    for await (const answer of answersTo(task, parse)) writeFileSync(3, `${JSON.stringify(answer)}\n`);
  }
}

type Task = ReadingTask & { readonly bytes: Uint8Array };

/** The length of the task in four bytes, the task as JSON, and the bytes of the file. Undefined once the service has closed its end. */
function nextTask(): Task | undefined {
  const length = readExactly(4);
  if (length === undefined) return undefined;
  const json = readExactly(new DataView(length.buffer).getUint32(0));
  const task: ReadingTask = JSON.parse(new TextDecoder().decode(json));
  const bytes = readExactly(task.size);
  return bytes && { ...task, bytes };
}

/** Not a `Buffer`, which the PDF parser does not accept. */
function readExactly(size: number): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(size);
  for (let filled = 0; filled < size; ) {
    const read = readSync(0, bytes, filled, size - filled, null);
    if (read === 0) return undefined;
    filled += read;
  }
  return bytes;
}

async function* answersTo(
  { name, bytes: file, limits }: Task,
  parse: typeof parseDocument,
): AsyncGenerator<ReadingResult> {
  try {
    const { title, url, passages } = await parse(name, file, limits);
    let bytes = 0;
    for (let next = 0; next < passages.length; ) {
      const part = passages.slice(next, next + passagesPerPart).map((passage) => {
        bytes += Buffer.byteLength(passage.heading + passage.text);
        return { ...passage, terms: extractPassageTerms(name, title, passage) };
      });
      next += part.length;
      yield next < passages.length ? { part } : { part, head: { title, url, bytes } };
    }
  } catch (error) {
    yield { fault: describeFault(error) };
  }
}

function describeFault(error: unknown): string {
  if (error instanceof UnreadableDocument) return error.message;
  if (error instanceof RangeError) return 'is nested too deeply to be read';
  return 'cannot be read: it may be damaged';
}
