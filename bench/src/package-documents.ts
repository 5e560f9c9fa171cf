import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { removeFolder, root, temporaryFolder } from './processes.ts';

const run = promisify(execFile);

/** A published package at a fixed version, and the files in it that are added as documents. */
interface PublishedPackage {
  readonly package: string;
  readonly integrity: string;
  readonly documents: readonly string[];
}

/** The cache for downloaded packages. It is kept between runs. */
const cache = join(tmpdir(), 'skein-bench-packages');
const packages: readonly PublishedPackage[] = JSON.parse(
  readFileSync(join(root, 'bench/evaluation/packages.json'), 'utf8'),
);

/**
 * Writes the documents of all packages into `folder`. Returns the file names by the names that questions use
 * (`helmet/README.md`).
 */
export async function writePackageDocuments(folder: string): Promise<Map<string, string>> {
  mkdirSync(cache, { recursive: true });
  const written = new Map<string, string>();
  for (const one of packages) {
    const name = one.package.slice(0, one.package.lastIndexOf('@'));
    const unpacked = temporaryFolder();
    const paths = one.documents.map((path) => `package/${path}`);
    await run('tar', ['-xzf', await fetchPackage(one), '-C', unpacked, '--strip-components=1', ...paths]);
    for (const path of one.documents) {
      const file = chooseFileName(name, path);
      if ([...written.values()].includes(file)) throw new Error(`Two documents are called ${file}.`);
      copyFileSync(join(unpacked, path), join(folder, file));
      written.set(`${name}/${path}`, file);
    }
    removeFolder(unpacked);
  }
  return written;
}

/** Returns the package's archive from the cache, or from the registry that npm is configured to use. */
async function fetchPackage({ package: spec, integrity }: PublishedPackage): Promise<string> {
  const archive = join(cache, `${spec.replaceAll('/', '+')}.tgz`);
  if (existsSync(archive) && hashFile(archive) === integrity) return archive;
  const folder = temporaryFolder();
  const words = ['pack', spec, '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', words, { cwd: root, maxBuffer: 2 ** 26 });
  const [{ filename }] = JSON.parse(stdout);
  const fetched = join(folder, filename.replace(/^@/, '').replaceAll('/', '-'));
  if (hashFile(fetched) !== integrity) throw new Error(`${spec} is not the archive that was evaluated.`);
  // Concurrent runs can fetch the same package, so each writes its own file and then renames it.
  const complete = `${archive}.${process.pid}`;
  writeFileSync(complete, readFileSync(fetched));
  renameSync(complete, archive);
  removeFolder(folder);
  return archive;
}

function hashFile(file: string): string {
  return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
}

/** Names the document after its package, because many are called README. */
function chooseFileName(packageName: string, path: string): string {
  const name = basename(path);
  const tool = packageName.slice(packageName.lastIndexOf('/') + 1);
  return name.startsWith(tool) ? name : `${tool}-${name}`;
}
