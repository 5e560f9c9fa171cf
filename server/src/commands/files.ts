import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { UnreadableDocument } from '../domain/document.ts';

const fileBytesMax = 50_000_000;

/** The file itself; of a folder, every file below it whose name has one of the endings, in the order of their names. */
export function filesIn(path: string, endings: readonly string[]): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return [normalize(path)];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.toLowerCase().endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Rejects what cannot be read with a sentence that follows the file's name. */
export function readWholeFile(path: string): Uint8Array {
  try {
    // Before it is read: memory is for documents, not for disk images.
    if (statSync(path).size > fileBytesMax) throw new UnreadableDocument('is larger than 50 MB');
    return readFileSync(path);
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    throw new UnreadableDocument(reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? 'cannot be read');
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'is not there',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a folder',
  ENOTDIR: 'is not there',
};
