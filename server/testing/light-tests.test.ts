/**
 * Runs all test files that only compute in one process. A process for each of these 60 files would take three times the
 * processor time. Each file can also be run alone: `npx node --test FILE`.
 */
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const lightTests = [
  'server/src/*.test.ts',
  'server/src/{commands,domain,http,security,usecases}/**/*.test.ts',
  '{console,site}/src/**/*.test.ts',
];

for (const file of globSync(lightTests, { cwd: root }).sort()) await import(join(root, file));
