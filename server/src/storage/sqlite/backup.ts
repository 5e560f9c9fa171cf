import Sqlite from 'better-sqlite3';

/** 4 MiB of the usual pages: the bar moves, and signals are heard in between. */
const pagesPerStep = 1024;

/**
 * Copies the store as it is now into `copy`, an empty file, while others write: nobody waits for it. All steps read one
 * snapshot; without that, SQLite would begin anew with every commit of another process, and never end under load.
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

/** Opens the copy as a restored store is opened, and rejects it unless SQLite finds it whole and it is a store of Skein. */
export function checkSqliteFile(copy: string): void {
  const database = new Sqlite(copy, { fileMustExist: true });
  try {
    const found = String(database.pragma('quick_check(1)', { simple: true }));
    if (found !== 'ok') throw new Error(`it is damaged: ${found}`);
    database.prepare('SELECT latest_at FROM store_clock').get();
  } finally {
    // The only connection: what SQLite laid beside the file goes with it.
    database.close();
  }
}
