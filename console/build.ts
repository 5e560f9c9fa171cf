import { join } from 'node:path';
import { build } from 'vite';
import { buildOnce } from '../build-once.ts';

const folder = import.meta.dirname;

/** The web application. */
await buildOnce(folder, async (fresh) => {
  await build({
    configFile: join(folder, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: fresh, emptyOutDir: true },
  });
});
