/**
 * `npm run lock:hashes` gives every entry of package-lock.json its integrity hash. npm leaves out the hash of a package
 * that it takes from node_modules instead of the registry, as it does whenever it adds to an existing installation.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../harness/service/service.ts';

const run = promisify(execFile);
const atOnce = 6;

const file = join(root, 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8'));
const missing = Object.entries<{ version: string; integrity?: string; link?: boolean }>(lock.packages).filter(
  ([path, { integrity, link }]) => path.includes('node_modules/') && !link && !integrity,
);
const queue = missing.values();
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (const [path, { version, ...rest }] of queue) {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const { stdout } = await run('npm', ['view', `${name}@${version}`, 'dist.integrity']);
      const integrity = stdout.trim();
      if (!integrity.startsWith('sha512-'))
        throw new Error(`The registry has no hash for ${name}@${version}.`);
      lock.packages[path] = { version, integrity, ...rest };
    }
  }),
);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${missing.length} hashes added.`);
