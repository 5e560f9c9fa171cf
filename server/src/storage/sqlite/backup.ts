import Sqlite from 'better-sqlite3';

/** 4 MiB at the usual page size. The progress bar is updated and signals are handled between steps. */
const pagesPerStep = 1024;

/**
 * Copies the current state of the store into `copy`, an empty file, without blocking writers. All steps read one
 * snapshot; otherwise SQLite would start over with every commit of another process and never finish under load.
 */
export async function copySqliteFile(
  storeFile: string,
  copy: string,
  onStep: (donePages: number, allPages: number) => void,
): Promise<void> {
  const store = new Sqlite(storeFile, { fileMustExist: true, timeout: 5000 });
  try {
    store.exec('BEGIN');
    store.prepare('SELECT count(*) FROM sqlite_schema').get();
    const { totalPages: pages } = await store.backup(copy, {
      progress({ totalPages, remainingPages }) {
        onStep(totalPages - remainingPages, totalPages);
        return pagesPerStep;
      },
    });
    store.exec('COMMIT');
    onStep(pages, pages);
  } finally {
    store.close();
  }
}

/** Opens the copy like a restored store. Throws unless SQLite finds no damage and it is a store of Skein. */
export function checkSqliteFile(copy: string): void {
  const database = new Sqlite(copy, { fileMustExist: true });
  try {
    const found = String(database.pragma('quick_check(1)', { simple: true }));
    if (found !== 'ok') throw new Error(`it is damaged: ${found}`);
    database.prepare('SELECT latest_at FROM store_clock').get();
  } finally {
    // The only connection: SQLite removes its other files when it is closed.
    database.close();
  }
}
