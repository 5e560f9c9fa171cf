import { diagnoseClock } from '../clock-jumps.ts';
import { isRunning } from '../sql/messages.ts';
import type { Diagnosis } from '../store.ts';
import type { Database } from './database.ts';

export function diagnose(database: Database, wallClock: () => number): Diagnosis[] {
  const first = (sql: string) => database.prepare<[], number>(sql).pluck().get() ?? 0;
  const pragma = (name: string) => String(database.pragma(name, { simple: true }));
  return [
    finding('store', () => {
      const journal = pragma('journal_mode');
      return journal === 'wal'
        ? { ok: true, detail: `SQLite, schema ${pragma('user_version')}` }
        : { ok: false, detail: `the journal is ${journal}, not WAL: move the store to a local disk` };
    }),
    finding('integrity', () => {
      const result = pragma('quick_check(1)');
      const broken = (database.pragma('foreign_key_check') as unknown[]).length;
      return result === 'ok' && broken === 0
        ? { ok: true, detail: 'no damage found' }
        : { ok: false, detail: `damaged (${result}, ${broken} broken references): restore a backup` };
    }),
    finding('clock', () =>
      diagnoseClock(first('SELECT latest_at FROM store_clock') - wallClock(), 'correct it'),
    ),
    finding('replies', () => {
      const running = first(`SELECT count(*) FROM message WHERE ${isRunning}`);
      return { ok: true, detail: `${running} running` };
    }),
  ];
}

function finding(check: string, look: () => Omit<Diagnosis, 'check'>): Diagnosis {
  try {
    return { check, ...look() };
  } catch (error) {
    return { check, ok: false, detail: `${(error as Error).message}: check the disk or restore a backup` };
  }
}
