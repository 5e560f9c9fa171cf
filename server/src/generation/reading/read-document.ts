import { type DocumentText, UnreadableDocument } from '../../domain/document.ts';
import { defaultLimits, formatBytes, type Limits } from '../../domain/limits.ts';
import { formatOf } from './formats.ts';
import { readInWorker } from './read-in-worker.ts';

/**
 * What a file says, in passages. The format follows from the name's ending. Rejects with an `UnreadableDocument` whose
 * message goes on from the file's name: 'is empty'. Always ends, whatever the file holds.
 */
export async function readDocument(
  name: string,
  bytes: Uint8Array,
  { documentBytesMax }: Limits = defaultLimits,
): Promise<DocumentText> {
  formatOf(name);
  if (bytes.byteLength === 0) throw new UnreadableDocument('is empty');
  if (bytes.byteLength > documentBytesMax)
    throw new UnreadableDocument(`is larger than ${formatBytes(documentBytesMax)}`);
  return readInWorker({ name, bytes });
}
