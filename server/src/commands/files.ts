import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, normalize, sep } from 'node:path';
import { fileFault } from '../domain/document.ts';

/** What a path stands for: files to be read, and folders that could not be looked into, with the reason. */
export interface Found {
  readonly files: readonly string[];
  readonly failed: readonly { readonly name: string; readonly reason: string }[];
}

/**
 * The file itself; of a folder, every file below it whose name has one of the endings, in the order of their names. Links
 * to files in the folder count as files; links to folders are not followed: they may lead round in circles.
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

/** A link out of the folder is not followed: a folder that others wrote must not bring in the files of this machine. */
function isFileWithin(folder: string, entry: Dirent, name: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isFile();
  const target = statSync(name, { throwIfNoEntry: false });
  // A link to nothing is named among those that cannot be read.
  if (target === undefined) return true;
  return !target.isDirectory() && realpathSync(name).startsWith(join(realpathSync(folder), sep));
}
