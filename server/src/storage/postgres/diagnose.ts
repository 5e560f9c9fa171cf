import { diagnoseClock } from '../clock-jumps.ts';
import { isRunning } from '../sql/messages.ts';
import { statement } from '../sql/sql.ts';
import type { Diagnosis } from '../store.ts';
import type { Database } from './database.ts';
import { serverTime } from './store-time.ts';

const readFacts = statement('diagnose')`
  SELECT current_setting('server_version') AS version, (SELECT version FROM schema_version) AS schema,
    pg_is_in_recovery() AS standby, current_setting('synchronous_commit') AS synchronous,
    current_setting('server_encoding') AS encoding,
    ${serverTime} AS clock, (SELECT latest_at FROM store_clock) AS latest,
    (SELECT count(*) FROM message WHERE ${isRunning}) AS replies`;

interface Facts {
  version: string;
  schema: number;
  standby: boolean;
  synchronous: string;
  encoding: string;
  clock: number;
  latest: number;
  replies: number;
}

export async function diagnose({ run }: Database): Promise<Diagnosis[]> {
  const startMs = performance.now();
  const [facts] = await run<Facts>(readFacts);
  const tookMs = performance.now() - startMs;
  const { version, schema, clock, latest, replies } = facts!;
  const store = `PostgreSQL ${version}, schema ${schema}, answers in ${tookMs.toFixed(1)} ms`;
  const fault = faultOf(facts!);
  return [
    { check: 'store', ok: fault === undefined, detail: fault === undefined ? store : `${store}; ${fault}` },
    diagnoseClock(latest - clock, 'correct the clock of the database server'),
    { check: 'replies', ok: true, detail: `${replies} in progress` },
  ];
}

function faultOf({ standby, encoding, synchronous }: Facts): string | undefined {
  if (standby) return 'it is a standby and does not accept writes: use the address of the primary';
  if (encoding !== 'UTF8') return `its encoding is ${encoding}: create the database with UTF8`;
  if (synchronous === 'off') {
    return 'synchronous_commit is off, so a power cut loses acknowledged writes: set it to on';
  }
  return undefined;
}
