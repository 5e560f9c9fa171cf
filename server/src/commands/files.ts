import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, normalize, sep } from 'node:path';
import { fileFault } from '../domain/document.ts';

/** The files at a path, and the folders that could not be read, with the reason. */
export interface Found {
  readonly files: readonly string[];
  readonly failed: readonly { readonly name: string; readonly reason: string }[];
}

/**
 * The file itself, or every file below a folder whose name has one of the endings, sorted by name. Links to files in the
 * folder count as files; links to folders are not followed because they may be circular.
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
        else if (hasEnding(entry, endings) && isFileWithin(path, entry, name)) files.push(name);
      }
    } catch (error) {
      failed.push({ name: folder, reason: fileFault((error as NodeJS.ErrnoException).code) });
    }
  }
  return { files: files.sort(), failed };
}

function hasEnding(entry: Dirent, endings: readonly string[]): boolean {
  return endings.some((ending) => entry.name.toLowerCase().endsWith(ending));
}

/** Links out of the folder are not followed: a folder from somebody else must not add other files of this machine. */
function isFileWithin(folder: string, entry: Dirent, name: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isFile();
  const target = statSync(name, { throwIfNoEntry: false });
  // A broken link is reported as a file that cannot be read.
  if (target === undefined) return true;
  return !target.isDirectory() && realpathSync(name).startsWith(join(realpathSync(folder), sep));
}
