import { FairQueue } from '../../../runtime/src/pure/fair-queue.ts';
import type { IndexedDocument } from '../port/documents.ts';
import { type DocumentFile, openDocumentFile } from './document-file.ts';
import { detectFormat } from './formats.ts';
import { ReadingChild } from './reading-child.ts';
import type { ReadingLimits } from './reading-limits.ts';
import { UnreadableDocument } from './unreadable-document.ts';

const idleMs = 5_000;

/**
 * Reads files in separate processes, and kills one that takes too long or too much memory. (A thread would not be enough: V8
 * aborts the whole process when a thread grows far beyond its limit.) A process gets the bytes of the file, and may itself
 * read only its program. Organizations take turns, and no organization occupies every process if there are several. What a
 * parser prints is discarded.
 *
 * The returned function rejects with an `UnreadableDocument`, whose message continues a sentence that starts with the file's
 * name: 'is empty'. Reading ends within the time limit.
 */
export function documentReader(
  limits: ReadingLimits,
  program = new URL('./reading-thread.ts', import.meta.url),
) {
  const slots = new FairQueue<string>(limits.documentReaders, Math.max(1, limits.documentReaders - 1));
  /**
   * Kept for the next files, because starting a process takes about 200 ms: one for each slot, so that organizations which
   * upload at the same time do not wait for a start with every file.
   */
  const idle = new Map<ReadingChild, NodeJS.Timeout>();

  async function readNow(name: string, file: DocumentFile): Promise<IndexedDocument> {
    const child = takeProcess() ?? (await ReadingChild.start(limits, program));
    try {
      const answer = await child.read(name, file);
      keepProcess(child);
      if ('fault' in answer) throw new UnreadableDocument(answer.fault);
      return answer;
    } finally {
      if (!idle.has(child)) child.kill();
    }
  }

  function takeProcess(): ReadingChild | undefined {
    for (const [kept, timer] of idle) {
      idle.delete(kept);
      clearTimeout(timer);
      if (!kept.isRunning) continue;
      kept.ref();
      return kept;
    }
    return undefined;
  }

  /** Neither the process nor its timer keeps the service alive. */
  function keepProcess(child: ReadingChild): void {
    child.unref();
    const timer = setTimeout(() => {
      idle.delete(child);
      child.kill();
    }, idleMs).unref();
    idle.set(child, timer);
  }

  return async (organizationId: string, name: string, path: string): Promise<IndexedDocument> => {
    detectFormat(name);
    return slots.run(organizationId, async () => {
      const file = await openDocumentFile(path, limits);
      try {
        return await readNow(name, file);
      } finally {
        await file.close();
      }
    });
  };
}
