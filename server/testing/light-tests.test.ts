/**
 * Runs all unit tests in one process, except those of HTTP and those that need PostgreSQL, start threads or take seconds:
 * `npm test` runs each of their files in a separate process. A process for each of these 60 files would take three times the
 * processor time. Each file can also be run alone: `npx node --test FILE`.
 */
import { importTests } from './import-tests.ts';

const elsewhere = ['server/src/{generation,http,metrics,storage}/**'];

await importTests('{server,console,site}/src/**/*.test.ts', elsewhere);
