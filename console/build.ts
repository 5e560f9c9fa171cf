import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build } from 'vite';

/**
 * Builds the web application into `dist`, unless what is there was built from the same sources. Nothing half-built is ever
 * served: it grows beside `dist` and takes its place in one step.
 */
const folder = import.meta.dirname;
const dist = join(folder, 'dist');
const stamp = sourceHash();

if (!isBuilt()) {
  const fresh = `${dist}.${process.pid}`;
  await build({
    configFile: join(folder, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: fresh, emptyOutDir: true },
  });
  await compressAll(fresh);
  writeFileSync(join(fresh, '.built-from'), stamp);
  takePlace(fresh);
}

function isBuilt(): boolean {
  const file = join(dist, '.built-from');
  return existsSync(file) && readFileSync(file, 'utf8') === stamp;
}

function sourceHash(): string {
  const hash = createHash('sha256');
  const files = [
    '../package-lock.json',
    ...globSync('{src,public}/**/*', { cwd: folder }),
    'index.html',
    'vite.config.ts',
    'build.ts',
  ];
  for (const file of files.sort()) {
    const path = join(folder, file);
    if (existsSync(path) && statSync(path).isFile()) hash.update(file).update(readFileSync(path));
  }
  return hash.digest('hex');
}

/** Once for all requests, and as small as it goes. */
async function compressAll(built: string): Promise<void> {
  const files = globSync('**/*.{js,css,svg}', { cwd: built });
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  await Promise.all(
    files.map(async (file) => {
      const path = join(built, file);
      const bytes = readFileSync(path);
      writeFileSync(`${path}.br`, await promisify(brotliCompress)(bytes, quality));
      writeFileSync(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
    }),
  );
}

/** Another process may have built the same meanwhile: whoever comes last wins, and nobody serves a mixture. */
function takePlace(fresh: string): void {
  const outdated = `${fresh}.old`;
  if (existsSync(dist)) renameSync(dist, outdated);
  renameSync(fresh, dist);
  rmSync(outdated, { recursive: true, force: true });
}
