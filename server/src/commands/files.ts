import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { UnreadableDocument } from '../domain/document.ts';
import { formatBytes } from '../domain/limits.ts';

/** What a path stands for: files to be read, and folders that could not be looked into, with the reason. */
export interface Found {
  readonly files: readonly string[];
  readonly failed: readonly { readonly name: string; readonly reason: string }[];
}

/**
 * The file itself; of a folder, every file below it whose name has one of the endings, in the order of their names. Links
 * to files count as files; links to folders are not followed: they may lead round in circles.
 */
export function filesIn(path: string, endings: readonly string[]): Found {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    return { files: [normalize(path)], failed: [] };
  const files: string[] = [];
  const failed: { name: string; reason: string }[] = [];
  const folders = [normalize(path)];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const name = join(folder, entry.name);
        if (entry.isDirectory()) folders.push(name);
        else if (isWanted(entry, name, endings)) files.push(name);
      }
    } catch (error) {
      failed.push({ name: folder, reason: reasonOf(error) });
    }
  }
  return { files: files.sort(), failed };
}

function isWanted(entry: Dirent, name: string, endings: readonly string[]): boolean {
  if (!endings.some((ending) => entry.name.toLowerCase().endsWith(ending))) return false;
  return entry.isSymbolicLink() ? !statSync(name, { throwIfNoEntry: false })?.isDirectory() : entry.isFile();
}

/** Rejects what cannot be read with a sentence that follows the file's name. */
export function readWholeFile(path: string, bytesMax: number): Uint8Array {
  try {
    const stats = statSync(path);
    // A pipe would keep us waiting for ever.
    if (!stats.isFile() && !stats.isDirectory()) throw new UnreadableDocument('is not a file');
    // Before it is read: memory is for documents, not for disk images.
    if (stats.size > bytesMax) throw new UnreadableDocument(`is larger than ${formatBytes(bytesMax)}`);
    return readFileSync(path);
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    throw new UnreadableDocument(reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  return reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? 'cannot be read';
}

const reasons: Record<string, string> = {
  ENOENT: 'is not there',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a folder',
  ENOTDIR: 'is not there',
};
