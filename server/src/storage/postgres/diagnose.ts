import type { Diagnosis } from '../store.ts';
import type { Database } from './database.ts';

const facts = {
  name: 'diagnose',
  text: `SELECT current_setting('server_version') AS version, (SELECT version FROM schema_version) AS schema,
    pg_is_in_recovery() AS standby, current_setting('synchronous_commit') AS synchronous,
    current_setting('server_encoding') AS encoding,
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS clock, (SELECT latest_at FROM store_clock) AS latest,
    (SELECT count(*) FROM message WHERE status IN ('in_progress', 'corroborating')) AS replies`,
};

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

/** A clock this far behind the newest row is wrong; below it, a burst of renames explains the difference. */
const clockBehindMaxMs = 5000;

export async function diagnose({ run }: Database): Promise<Diagnosis[]> {
  const began = performance.now();
  const [found] = (await run(facts, [])) as Facts[];
  const tookMs = performance.now() - began;
  const { version, schema, standby, synchronous, encoding, clock, latest, replies } = found!;
  const writable = !standby && encoding === 'UTF8' && synchronous !== 'off';
  const store = `PostgreSQL ${version}, schema ${schema}, answers in ${tookMs.toFixed(1)} ms`;
  return [
    {
      check: 'store',
      ok: writable,
      detail: writable ? store : `${store}; ${faultOf(standby, encoding)}`,
    },
    {
      check: 'clock',
      ok: latest - clock < clockBehindMaxMs,
      detail:
        latest - clock < clockBehindMaxMs
          ? 'not behind the store'
          : `${Math.round((latest - clock) / 1000)} s behind the newest row: set the database server's clock right`,
    },
    { check: 'replies', ok: true, detail: `${replies} on their way` },
  ];
}

function faultOf(standby: boolean, encoding: string): string {
  if (standby) return 'it is a standby that cannot be written to: name the primary';
  if (encoding !== 'UTF8') return `its encoding is ${encoding}: make the database with UTF8`;
  return 'synchronous_commit is off, so that a power cut loses acknowledged writes: set it to on';
}
