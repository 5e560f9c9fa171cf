import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Server code may not import the tests: their program starts or finds a server and creates a database. */
const program = join(import.meta.dirname, '../../../tests/harness/postgres/database-program.ts');

/** A new database that is dropped when it is closed. */
export async function openTestDatabase(): Promise<{ url: string; close(): Promise<void> }> {
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const close = () => {
    child.stdin.end();
    return gone;
  };
  for await (const line of createInterface({ input: child.stdout })) return { url: line.trim(), close };
  throw new Error('The program that keeps a database has ended.');
}

export const poolSettings = {
  connectionsMax: 10,
  watch: {
    connectionBroke(error: Error) {
      throw error;
    },
    writesFail() {},
    writesSucceed() {},
    migrationWaits() {},
  },
};
