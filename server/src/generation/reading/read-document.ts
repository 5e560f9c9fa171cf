import { type DocumentText, UnreadableDocument } from '../../domain/document.ts';
import { formatOf } from './formats.ts';
import { readInWorker } from './read-in-worker.ts';

const bytesMax = 50 * 1024 * 1024;

/**
 * What a file says, in passages. The format follows from the name's ending. Rejects with an `UnreadableDocument` whose
 * message goes on from the file's name: 'is empty'. Always ends, whatever the file holds.
 */
export async function readDocument(name: string, bytes: Uint8Array): Promise<DocumentText> {
  formatOf(name);
  if (bytes.byteLength === 0) throw new UnreadableDocument('is empty');
  if (bytes.byteLength > bytesMax) throw new UnreadableDocument('is larger than 50 MB');
  return readInWorker({ name, bytes });
}
