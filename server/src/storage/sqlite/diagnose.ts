import { diagnoseClock } from '../clock-jumps.ts';
import { isRunning } from '../sql/messages.ts';
import type { Diagnosis } from '../store.ts';
import type { Database } from './database.ts';

export function diagnose(database: Database, wallClock: () => number): Diagnosis[] {
  return [
    finding('store', () => checkSchema(database)),
    finding('integrity', () => checkIntegrity(database)),
    finding('clock', () => checkClock(database, wallClock())),
    finding('replies', () => checkReplies(database)),
  ];
}

function finding(check: string, look: () => Diagnosis): Diagnosis {
  try {
    return look();
  } catch (error) {
    return { check, ok: false, detail: `${(error as Error).message}: check the disk or restore a backup` };
  }
}

function checkSchema(database: Database): Diagnosis {
  const schema = database.pragma('user_version', { simple: true });
  const journal = database.pragma('journal_mode', { simple: true });
  const ok = journal === 'wal';
  const detail = ok
    ? `SQLite, schema ${schema}`
    : `the journal is ${journal}, not WAL: move the store to a local disk`;
  return { check: 'store', ok, detail };
}

function checkIntegrity(database: Database): Diagnosis {
  const result = String(database.pragma('quick_check(1)', { simple: true }));
  const broken = (database.pragma('foreign_key_check') as unknown[]).length;
  const ok = result === 'ok' && broken === 0;
  const detail = ok
    ? 'no damage found'
    : `damaged (${result}, ${broken} broken references): restore a backup`;
  return { check: 'integrity', ok, detail };
}

function checkClock(database: Database, now: number): Diagnosis {
  const latest = database.prepare<[], number>('SELECT latest_at FROM store_clock').pluck().get() ?? 0;
  return diagnoseClock(latest - now, 'correct it');
}

function checkReplies(database: Database): Diagnosis {
  const waiting = database
    .prepare<[], number>(`SELECT count(*) FROM message WHERE ${isRunning}`)
    .pluck()
    .get();
  return { check: 'replies', ok: true, detail: `${waiting} running` };
}
