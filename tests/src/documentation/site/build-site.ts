import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../../harness/service/service.ts';

/** Builds the site if it is not up to date. `npm test` has already built it; a test file that is run alone needs this. */
export function buildSite(): void {
  execFileSync(process.execPath, [join(root, 'site/build.ts')], { stdio: ['ignore', 'ignore', 'inherit'] });
}
