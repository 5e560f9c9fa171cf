import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { answersIn, assertEnvelope, RawConnection } from '../http/raw-http.ts';
import { buildScript } from './fuzz-scripts.ts';

export interface FuzzTarget {
  readonly name: string;
  readonly baseUrl: string;
  readonly key: string;
  /** How many hostile calls a script sends at most on one connection. */
  readonly callsMax: number;
}

export interface FuzzOutcome {
  readonly connections: number;
  /** Requests that were answered and whose answers were checked. */
  readonly requests: number;
  /** How many answers had each status. */
  readonly statuses: Record<string, number>;
  readonly failures: string[];
}

const lanes = 8;
const failuresMax = 5;

/** Runs scripts from number 0 until `isDone` returns true for a number, and checks every answer. */
export async function fuzzTarget(
  target: FuzzTarget,
  seed: number,
  isDone: (index: number) => boolean,
): Promise<FuzzOutcome> {
  const statuses: Record<string, number> = {};
  const failures: string[] = [];
  let next = 0;
  const lane = async () => {
    while (failures.length < failuresMax && !isDone(next)) {
      const index = next;
      next += 1;
      try {
        for (const status of await runScript(target, seed, index))
          statuses[status] = (statuses[status] ?? 0) + 1;
      } catch (error) {
        failures.push(
          `${target.name}, seed ${seed}, script ${index}: ${describe(target, seed, index, error)}`,
        );
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { connections: next, requests, statuses, failures };
}

async function runScript(target: FuzzTarget, seed: number, index: number): Promise<number[]> {
  const { pieces, ending } = buildScript(index, seed, target);
  const connection = await RawConnection.open(target);
  try {
    for (const piece of pieces) {
      connection.send(piece);
      await nextTurn();
    }
    if (ending === 'reset') connection.reset();
    if (ending !== 'finish') return [];
    // With TLS, a client that closes its side gives up the answers.
    if (isTls(target)) await connection.somethingReceived(50);
    connection.finish();
    return check(target, Buffer.concat(pieces), await connection.ended(60_000));
  } finally {
    connection.close();
  }
}

/** Returns the status of each answer. Fails on a 5xx, on an error without the envelope, and if nothing was answered. */
function check(target: FuzzTarget, sent: Buffer, received: string): number[] {
  const answers = answersIn(Buffer.from(received, 'latin1'));
  // Empty lines before a request are skipped (RFC 9112 §2.2).
  if (answers.length === 0 && !isTls(target)) assert.match(sent.toString('latin1'), /^[\r\n]*$/, 'no answer');
  for (const answer of answers) {
    assert.ok(answer.status < 500, `${answer.status} ${answer.body}`);
    // The only plain-text answer of the metrics port, which serves nothing but GET /metrics.
    const isPlain = target.name === 'metrics' && answer.status === 404;
    if (answer.status >= 400 && !isPlain) assertEnvelope(answer);
  }
  return answers.map(({ status }) => status);
}

function isTls({ baseUrl }: FuzzTarget): boolean {
  return baseUrl.startsWith('https:');
}

function describe(target: FuzzTarget, seed: number, index: number, error: unknown): string {
  const { kind, pieces, ending } = buildScript(index, seed, target);
  const bytes = JSON.stringify(Buffer.concat(pieces).toString('latin1').slice(0, 1500));
  return `${(error as Error).message}\n  ${kind}, ${pieces.length} pieces, then ${ending}: ${bytes}`;
}
