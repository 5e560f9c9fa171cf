import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { fileFault } from '../domain/document.ts';

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
      failed.push({ name: folder, reason: fileFault((error as NodeJS.ErrnoException).code) });
    }
  }
  return { files: files.sort(), failed };
}

function isWanted(entry: Dirent, name: string, endings: readonly string[]): boolean {
  if (!endings.some((ending) => entry.name.toLowerCase().endsWith(ending))) return false;
  return entry.isSymbolicLink() ? !statSync(name, { throwIfNoEntry: false })?.isDirectory() : entry.isFile();
}
