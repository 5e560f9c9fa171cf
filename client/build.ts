import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { buildOnce } from '../build-once.ts';

const folder = import.meta.dirname;

/** The package, as it is published: JavaScript and its types. */
await buildOnce(folder, async (fresh) => {
  const tsc = join(folder, '../node_modules/.bin/tsc');
  execFileSync(tsc, ['-p', folder, '--outDir', fresh], { stdio: 'inherit' });
});
