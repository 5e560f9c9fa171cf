import { closeSync, fdatasync, openSync, realpathSync } from 'node:fs';
import { promisify } from 'node:util';

const sync = promisify(fdatasync);

/**
 * SQLite's write-ahead log, opened a second time to sync it in a thread of Node's pool. SQLite keeps no locks on this
 * file, and does not replace it while the database is open.
 */
export class Journal {
  readonly #descriptor: number;

  /** To be called after SQLite has opened the database and its journal. */
  constructor(file: string) {
    try {
      this.#descriptor = openSync(`${realpathSync(file)}-wal`, 'r+');
    } catch (error) {
      throw new Error('SQLite cannot keep a write-ahead log there: move the store to a local disk', {
        cause: error,
      });
    }
  }

  sync(): Promise<void> {
    return sync(this.#descriptor);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
