/**
 * `node tests/harness/postgres/database-program.ts [NAME=VALUE…]`, for programs that cannot import this folder. It prints
 * the URL of a new database and keeps the database until its standard input closes. If it has to start a server, the
 * server uses these lines of `postgresql.conf` and also runs until then.
 */
import { once } from 'node:events';
import { dropDatabase, testDatabase } from './databases.ts';

const inputClosed = once(process.stdin.resume(), 'close');
const terminated = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
const settings = process.argv.slice(2).map((word) => word.split('=') as [string, string]);
const url = await testDatabase(Object.fromEntries(settings));
process.stdout.write(`${url}\n`);
await Promise.race([inputClosed, terminated]);
await dropDatabase(url);
process.exit();
