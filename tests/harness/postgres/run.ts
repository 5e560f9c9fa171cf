/**
 * `node tests/harness/postgres/run.ts COMMAND…` runs a command with one PostgreSQL server for all its processes, named in
 * SKEIN_TEST_POSTGRES_URL. If that is already set, its server is used. Temporary files, including those of the server, are kept
 * in memory if there is room and TMPDIR is not set. Exits like the command.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { prepareEnvironment } from '../service/machine.ts';
import { startPostgres } from './server.ts';

const [program, ...words] = process.argv.slice(2);
if (program === undefined) {
  console.error('usage: node tests/harness/postgres/run.ts COMMAND…');
  process.exit(2);
}

prepareEnvironment();
const given = process.env.SKEIN_TEST_POSTGRES_URL;
const server = given ? undefined : await startPostgres();
const child = spawn(program, words, {
  stdio: 'inherit',
  env: { ...process.env, SKEIN_TEST_POSTGRES_URL: given || server?.url },
});
forwardSignals(child);
child.once('error', (error) => {
  console.error(error.message);
  process.exit(127);
});
const [exitCode, signal] = await once(child, 'exit');
await server?.remove();
if (signal !== null) endBy(signal);
else process.exit(exitCode);

function forwardSignals(to: ChildProcess): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      // The terminal has already sent it to the command. A second signal would cut the command's report short.
      const sentByTerminal = name === 'SIGINT' && process.stdin.isTTY;
      if (!sentByTerminal) to.kill(name);
    });
  }
}

function endBy(name: NodeJS.Signals): void {
  process.removeAllListeners(name);
  process.kill(process.pid, name);
}
