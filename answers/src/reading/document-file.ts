import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { describeFileFault } from '../../../runtime/src/pure/file-fault.ts';
import { formatBytes } from '../../../runtime/src/pure/text.ts';
import type { ReadingLimits } from './reading-limits.ts';
import { UnreadableDocument } from './unreadable-document.ts';

export interface DocumentFile {
  readonly size: number;
  /** As many bytes as `size`. */
  chunks(): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

/** The service's own shortage, which says nothing about the file. */
const shortages = ['EMFILE', 'ENFILE', 'ENOMEM'];

/** Opens a file that somebody wants to add. Rejects with an `UnreadableDocument` that says why it cannot be read. */
export async function openDocumentFile(
  path: string,
  { documentBytesMax }: ReadingLimits,
): Promise<DocumentFile> {
  // Opening a pipe would otherwise block until something writes to it.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(rethrowFault);
  try {
    const stats = await handle.stat().catch(rethrowFault);
    if (stats.isDirectory()) throw new UnreadableDocument(describeFileFault('EISDIR'));
    if (!stats.isFile()) throw new UnreadableDocument('is not a file');
    const { size } = stats;
    if (size === 0) throw new UnreadableDocument('is empty');
    if (size > documentBytesMax)
      throw new UnreadableDocument(`is larger than ${formatBytes(documentBytesMax)}`);
    return { size, chunks: () => readChunks(handle, size), close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const chunkBytes = 262_144;

async function* readChunks(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size; ) {
    // Not used again: the chunk before may not have been written yet.
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, size - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position).catch(rethrowFault);
    if (bytesRead === 0) throw new UnreadableDocument('became shorter while it was read: try again');
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function rethrowFault(cause: NodeJS.ErrnoException): never {
  if (shortages.includes(cause.code ?? '')) throw cause;
  throw new UnreadableDocument(describeFileFault(cause.code), { cause });
}
