import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../service.ts';

/** As `npm test` has done before; alone, a test file does it by itself, and nothing where it is up to date. */
export function buildSite(): void {
  execFileSync(process.execPath, [join(root, 'site/build.ts')], { stdio: ['ignore', 'ignore', 'inherit'] });
}
