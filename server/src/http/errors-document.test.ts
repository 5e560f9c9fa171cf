import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { composeSkein, openLog, openStore, type Skein } from '../compose.ts';
import { readConfig } from '../config/config.ts';
import { errorCodes } from '../domain/errors.ts';
import { utcDay } from '../domain/time.ts';
import type { Store } from '../storage/port/store.ts';
import { errorStatus } from './error-response.ts';

const document = readFileSync(join(import.meta.dirname, '../../../docs/errors.md'), 'utf8');

interface Chapter {
  readonly code: string;
  readonly request: string;
  readonly answer: string;
}

const chapters: Chapter[] = document
  .split(/^## /m)
  .slice(1)
  .map((text) => ({
    code: text.slice(0, text.indexOf('\n')),
    request: /^```http\n(.*?)^```$/ms.exec(text)?.[1] ?? '',
    answer: /^```json\n(.*?)^```$/ms.exec(text)?.[1] ?? '',
  }));

describe('docs/errors.md', () => {
  let folder: string;
  let store: Store;
  let app: FastifyInstance;
  const keys: Record<string, string> = {};

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'skein-errors-'));
    const config = readConfig({ SKEIN_DATABASE_URL: `sqlite:${join(folder, 'skein.db')}` });
    store = await openStore(config);
    const skein = await composeSkein(config, store, { baseUrl: () => 'http://skein.example' });
    app = await skein.composeApp(await openLog('silent'));
    await makeKeys(skein, store, config.limits.dailyQuota, keys);
  });
  after(async () => {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has the codes and statuses of the service in its table, and a chapter for each', () => {
    const rows = [...document.matchAll(/^\| `([A-Z_]+)` \| (\d+) \|/gm)].map(([, code, status]) => [
      code,
      status,
    ]);
    assert.deepEqual(
      rows,
      errorCodes.map((code) => [code, String(errorStatus[code])]),
    );
    assert.deepEqual(
      chapters.map(({ code }) => code),
      errorCodes,
    );
  });

  it('shows for each code a request and the exact response of the service', async () => {
    assert.equal(chapters.length, 6);
    for (const { code, request, answer } of chapters) {
      // The last chapter needs a store that does not answer.
      if (code === 'INTERNAL_ERROR') await store.close();
      const response = await send(app, request, keys);
      const shown = JSON.parse(answer);
      const traceId = String(response.headers['x-request-id']);
      assert.equal(response.statusCode, errorStatus[code as keyof typeof errorStatus], code);
      assert.deepEqual(response.json(), JSON.parse(answer.replaceAll(shown.error.trace_id, traceId)));
    }
  });
});

/** The keys in the requests of the document. */
async function makeKeys(
  { useCases, operator }: Skein,
  store: Store,
  dailyQuota: number,
  keys: Record<string, string>,
): Promise<void> {
  const initiator = operator();
  const organizationId = await useCases.organizations.create(initiator, { name: 'Reading' });
  const change = { organizationId, initiator };
  const { userId } = await useCases.members.add(change, { email: 'ada@skein.example' });
  const spentId = await useCases.organizations.create(initiator, { name: 'Spent' });
  const personal = await useCases.keys.create(change, { userId, name: '' });
  const orgWide = await useCases.keys.create(change, { userId: null, name: '' });
  const spent = await useCases.keys.create(
    { organizationId: spentId, initiator },
    { userId: null, name: '' },
  );
  const spentHash = hash('sha256', spent.key);
  const today = utcDay(Date.now());
  // Uses up both days, because midnight may pass during the test.
  for (const day of [today, today + 1]) {
    const requests = Array.from({ length: dailyQuota }, () => store.admitKey(spentHash, day));
    await Promise.all(requests);
  }
  keys.PERSONAL_KEY = personal.key;
  keys.ORG_WIDE_KEY = orgWide.key;
  keys.SPENT_KEY = spent.key;
  keys.KEY_WHILE_THE_STORE_IS_DOWN = personal.key;
}

/** Sends an `http` block of the document. */
async function send(
  app: FastifyInstance,
  text: string,
  keys: Record<string, string>,
): Promise<LightMyRequestResponse> {
  const [head = '', payload] = text.split('\n\n');
  const [line = '', ...fields] = head.trim().split('\n');
  const [method, url] = line.split(' ') as ['GET' | 'POST', string];
  const headers = fields.map((field) => field.split(': ') as [string, string]);
  const authorized = headers.map(([name, value]) => [
    name,
    value.replace(/^Bearer (\w+)$/, (_, key) => `Bearer ${keys[key]}`),
  ]);
  return app.inject({ method, url, headers: Object.fromEntries(authorized), ...(payload && { payload }) });
}
