import { closeSync, fdatasync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import type { WriteHealth } from '../port/write-health.ts';

/** SQLite errors about the disk, the file or its lock rather than the statement. */
const storeErrors = /^SQLITE_(?:BUSY|FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB)/;

const checkEveryMs = 1000;

/** The files at the store's paths are not the open ones, so that new writes would be lost with a restart. */
class StoreFileLost extends Error {}

/**
 * Detects that files of the store were deleted, moved, replaced, overwritten or truncated while they are open, and fails
 * writes until the same files are back. Linux lets a process write to a deleted file without an error.
 */
export class DiskGuard {
  readonly #health: WriteHealth;
  readonly #file: string;
  readonly #opened: readonly ({ readonly path: string } & ReturnType<typeof readStat>)[];
  readonly #timer: NodeJS.Timeout;
  /** Kept open, because closing a descriptor releases every POSIX lock of the process on the file, including SQLite's. */
  readonly #descriptor: number;
  #size = 0;

  /** Call it after SQLite has opened the file and its journal. */
  constructor(file: string, health: WriteHealth) {
    this.#health = health;
    this.#file = file;
    this.#descriptor = openSync(file, 'r+');
    // SQLite follows a symbolic link and keeps the journal next to the real file.
    const real = realpathSync(file);
    this.#opened = [file, `${real}-wal`, `${real}-shm`].map((path) => ({ path, ...readStat(path) }));
    this.#timer = setInterval(() => this.#isLost(), checkEveryMs).unref();
  }

  /** Throws if the files were found to be lost and still are. */
  beforeCommit(): void {
    if (this.#health.failure instanceof StoreFileLost) this.assertInPlace();
  }

  /** Throws if a durable commit went to a lost file: it must not be acknowledged. */
  committed(durable: boolean): void {
    if (durable) this.assertInPlace();
    this.#health.succeeded();
  }

  /** Reports an error that concerns all writes, unless a lost file explains it. */
  failed(error: Error & { code?: string }): void {
    if (storeErrors.test(error.code ?? '') && !this.#isLost()) this.#health.failed(error);
  }

  /** Throws unless the files are the opened ones. It takes 4 µs; a sync takes 300 µs or more. */
  assertInPlace(): void {
    try {
      this.#compare();
      if (this.#health.failure instanceof StoreFileLost) this.#health.succeeded();
    } catch (error) {
      this.#health.failed(error as Error);
      throw error;
    }
  }

  syncFile(): Promise<void> {
    return promisify(fdatasync)(this.#descriptor);
  }

  /** Call it after the database was closed. */
  close(): void {
    clearInterval(this.#timer);
    closeSync(this.#descriptor);
  }

  #isLost(): boolean {
    try {
      this.assertInPlace();
      return false;
    } catch {
      return true;
    }
  }

  #compare(): void {
    for (const { path, dev, ino } of this.#opened) {
      const found = readStat(path);
      if (found.dev !== dev || found.ino !== ino) {
        throw new StoreFileLost(
          `${path} was deleted, moved or replaced while the service used it: put it back, or restore a backup and restart.`,
        );
      }
      if (path === this.#file) this.#assertWhole(found.size ?? 0);
    }
  }

  /** Only VACUUM shortens a file, and it also lowers the number of pages in the header. */
  #assertWhole(size: number): void {
    const header = readHeader(this.#descriptor);
    if (size < this.#size && (header === undefined || size < sizeByHeader(header))) {
      throw new StoreFileLost(`${this.#file} was truncated: stop the service and restore a backup.`);
    }
    if (isBackup(header)) {
      throw new StoreFileLost(
        `${this.#file} was overwritten with a backup while the service used it: stop the service and restore the backup again.`,
      );
    }
    this.#size = size;
  }
}

function readStat(path: string): { dev?: number; ino?: number; size?: number } {
  return statSync(path, { throwIfNoEntry: false }) ?? {};
}

/** See https://www.sqlite.org/fileformat.html#the_database_header. */
const headerLength = 100;

/** Undefined if the file is too short. */
export function readHeader(descriptor: number): Buffer | undefined {
  const header = Buffer.alloc(headerLength);
  return readSync(descriptor, header, 0, headerLength, 0) < headerLength ? undefined : header;
}

/** Whether the file was not opened since `skein backup` wrote it: the first start sets WAL mode. */
export function isBackup(header: Buffer | undefined): boolean {
  return header?.[18] === 1;
}

function sizeByHeader(header: Buffer): number {
  const pageSize = header.readUInt16BE(16);
  return header.readUInt32BE(28) * (pageSize === 1 ? 65_536 : pageSize);
}
