/**
 * Runs all unit tests in one process, except those that need PostgreSQL, start threads or take seconds: `npm test` runs
 * each of their files in a separate process. A process for each of these 60 files would take three times the processor
 * time. Each file can also be run alone: `npx node --test FILE`.
 */
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const inOwnProcess = ['server/src/{generation,metrics,storage}/**'];
const lightTests = globSync('{server,console,site}/src/**/*.test.ts', { cwd: root, exclude: inOwnProcess });

for (const file of lightTests.sort()) await import(join(root, file));
