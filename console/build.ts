import { join } from 'node:path';
import { buildOnce } from '../build-once.ts';

const folder = import.meta.dirname;

/** The web application. */
await buildOnce(folder, async (fresh) => {
  const { build } = await import('vite');
  await build({
    configFile: join(folder, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: fresh, emptyOutDir: true },
  });
});
