import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce } from '../build-once.ts';
import { base, linkedFiles } from './src/pages.ts';
import { buildPolicy } from './src/policy.ts';

const folder = import.meta.dirname;

/** Builds the documentation. */
await buildOnce(folder, async (fresh) => {
  // Turns off Astro's telemetry. It must be set before Astro is loaded.
  process.env.ASTRO_TELEMETRY_DISABLED = '1';
  const { build } = await import('astro');
  // Builds that run at the same time must not share a cache.
  const cacheDir = `${fresh}.cache`;
  try {
    await build({ root: folder, outDir: fresh, cacheDir, logLevel: 'error' });
  } finally {
    rmSync(cacheDir, { recursive: true, force: true });
  }
  const repository = join(folder, '..');
  for (const { file, url } of linkedFiles(repository))
    cpSync(join(repository, file), join(fresh, url.slice(base.length)));
  // Sent with every page: server/src/http/app/pages.ts.
  writeFileSync(join(fresh, '.policy'), buildPolicy(fresh));
});
