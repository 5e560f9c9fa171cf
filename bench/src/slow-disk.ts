import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sendMany } from '../../tests/harness/http/load.ts';
import { type Neighborhood, startNeighborhood } from '../../tests/harness/neighbors/neighborhood.ts';
import { type Noise, usualGrownMbMax } from '../../tests/harness/neighbors/noise.ts';
import { removeFolder, temporaryFolder } from './processes.ts';

/** Needs a service that `startOnSlowDisk` started. */
export const createsOnSlowDisk: Noise = {
  name: '64 connections that create threads, on a disk whose syncs take 5 ms longer',
  outcomes: ['201'],
  grownMbMax: usualGrownMbMax,
  isAboutStore: true,
  make: async ({ noisy: { api } }) => {
    const created = await sendMany(3_000, 64, () => api.create({ prompt: 'Hello' }));
    return created.map(({ status }) => String(status));
  },
};

/** Prints a line and returns undefined on a machine without a C compiler. */
export async function startOnSlowDisk(): Promise<Neighborhood | undefined> {
  const folder = temporaryFolder();
  const library = join(folder, 'slow-sync.so');
  const source = join(import.meta.dirname, 'slow-sync.c');
  try {
    await promisify(execFile)('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  } catch (error) {
    console.error(`The slow disk is left out, because cc failed: ${(error as Error).message}`);
    return undefined;
  }
  try {
    return await startNeighborhood({ environment: { SKEIN_MODEL: 'scripted', LD_PRELOAD: library } });
  } finally {
    removeFolder(folder);
  }
}
