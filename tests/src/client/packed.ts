import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { root, temporaryFolder } from '../../harness/service/service.ts';

/** What the package exports. */
export type Client = typeof import('../../../client/src/index.ts');

const run = promisify(execFile);
let unpacked: Promise<string> | undefined;

/** A project that has installed only the packed file. */
export function consumerProject(): Promise<string> {
  unpacked ??= installPacked();
  return unpacked;
}

/** The client from the packed file. */
export async function packedClient(): Promise<Client> {
  const entry = join(await consumerProject(), 'node_modules/@skein/client/dist/index.js');
  return import(pathToFileURL(entry).href);
}

/** The files in the package, without those that every package has. */
export async function packedFiles(): Promise<string[]> {
  const { stdout } = await run('tar', ['-tzf', join(await consumerProject(), 'client.tgz')]);
  return stdout
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''))
    .sort();
}

async function installPacked(): Promise<string> {
  await run(process.execPath, [join(root, 'client/build.ts')]);
  const project = temporaryFolder();
  const options = { cwd: join(root, 'client'), env: { ...process.env, NO_UPDATE_NOTIFIER: '1' } };
  const words = ['pack', '--json', '--ignore-scripts', '--offline', '--pack-destination', project];
  const { stdout } = await run('npm', words, options);
  const [packed] = Object.values<any>(JSON.parse(stdout));
  writeFileSync(join(project, 'client.tgz'), readFileSync(join(project, packed.filename)));
  const place = join(project, 'node_modules/@skein/client');
  mkdirSync(place, { recursive: true });
  await run('tar', ['-xzf', join(project, 'client.tgz'), '--strip-components=1', '-C', place]);
  const manifest = { name: 'consumer', private: true, type: 'module' };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  return project;
}
