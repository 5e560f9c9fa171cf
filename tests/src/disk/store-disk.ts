import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Api } from '../../harness/http/api.ts';
import { scrape } from '../../harness/http/scrape.ts';
import { eventually } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';

/** More writes than a store can take on a full disk: it can still overwrite old parts of its journal. */
const writesMax = 400;

export async function readiness({ baseUrl }: Service): Promise<number> {
  return (await fetch(`${baseUrl}/readyz`)).status;
}

/** A prompt that PostgreSQL can neither compress nor fit into an existing page. */
function largePrompt(): string {
  return randomBytes(15_000).toString('base64');
}

/** Creates threads one after the other until one fails. Returns the ids of the acknowledged ones. */
export async function createUntilRefused(api: Api): Promise<string[]> {
  const acknowledged: string[] = [];
  while (acknowledged.length < writesMax) {
    const { status, body } = await api.create({ prompt: largePrompt() });
    if (status === 500) return acknowledged;
    assert.equal(status, 201, JSON.stringify(body));
    acknowledged.push(body.thread.id);
  }
  throw new Error(`${writesMax} threads were created, and none was refused`);
}

/**
 * Fails unless the service is running, reports everywhere that it cannot serve, and logged so once. Returns the ids of
 * threads that were acknowledged during the check: one write can still find room after another did not.
 */
export async function assertDown(service: Service, api: Api, reason: RegExp): Promise<string[]> {
  await eventually(async () => (await readiness(service)) === 503);
  assert.equal((await scrape(service)).value('skein_store_up'), 0);
  assert.equal((await fetch(`${service.baseUrl}/healthz`)).status, 200);
  const acknowledged = await createUntilRefused(api);
  const isReport = (line: string) => line.includes('store is rejecting writes');
  await eventually(() => service.output.some(isReport));
  const reports = service.output.filter(isReport);
  assert.equal(reports.length, 1, reports.join('\n'));
  assert.match(reports[0]!, reason);
  assert.equal(JSON.parse(reports[0]!).level, 50);
  return acknowledged;
}

/** Waits until the service is ready again without help. Fails if it lost anything or does not write the replies. */
export async function assertRecovers(
  service: Service,
  api: Api,
  acknowledged: readonly string[],
): Promise<void> {
  await eventually(async () => (await readiness(service)) === 200);
  assert.equal((await scrape(service)).value('skein_store_up'), 1);
  const { status, body } = await api.create({ prompt: 'Are you back?' });
  assert.equal(status, 201);
  for (const id of [...acknowledged, body.thread.id]) {
    const { status: state } = await api.untilDone(id);
    assert.equal(state.state, 'idle', `the reply of ${id} was written`);
  }
  const isTold = (line: string) => line.includes('store is accepting writes again');
  await eventually(() => service.output.some(isTold));
}
