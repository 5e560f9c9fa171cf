import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { type FileSource, fileFault, UnreadableDocument } from '../../domain/document.ts';
import { formatBytes, type Limits } from '../../domain/limits.ts';

/** The bytes of a file. Its size is checked before it is read: memory is for documents, not for disk images. */
export function readFile(source: FileSource, limits: Limits): Uint8Array {
  if ('bytes' in source) {
    checkSize(source.bytes.byteLength, limits);
    return new Uint8Array(source.bytes);
  }
  const fd = openFile(source.path);
  try {
    return readOpenFile(fd, limits);
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

function readOpenFile(fd: number, limits: Limits): Uint8Array {
  const { size } = fstatSync(fd);
  checkSize(size, limits);
  // Not from the pool of buffers: the PDF parser takes what it is given away from us.
  const bytes = new Uint8Array(size);
  let at = 0;
  while (at < size) {
    const count = readSync(fd, bytes, at, size - at, at);
    if (count === 0) break;
    at += count;
  }
  return bytes.subarray(0, at);
}

function checkSize(size: number, { documentBytesMax }: Limits): void {
  if (size === 0) throw new UnreadableDocument('is empty');
  if (size > documentBytesMax) {
    throw new UnreadableDocument(`is larger than ${formatBytes(documentBytesMax)}`);
  }
}
