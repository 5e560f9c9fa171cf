import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from '../../harness/http/api.ts';
import { sendMany } from '../../harness/http/load.ts';
import { RawConnection } from '../../harness/http/raw-http.ts';
import { scrape } from '../../harness/http/scrape.ts';
import type { Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { makeMember } from '../../harness/world/tenants.ts';

const requestTimeoutMs = 3000;

describe('Pipelined requests', () => {
  let service: Service;
  let key: string;
  let api: Api;
  before(async () => {
    service = await startWithoutDemo({
      SKEIN_METRICS_PORT: '0',
      SKEIN_DAILY_QUOTA: '1000000',
      SKEIN_REQUEST_TIMEOUT_MS: String(requestTimeoutMs),
    });
    ({ key, api } = await makeMember(service, 'First', 'ada@first.example'));
  });
  after(() => service.end());

  const get = (path: string, ...lines: string[]) =>
    [`GET /api/v1${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${key}`, ...lines, '', ''].join('\r\n');
  const post = (body: string) =>
    [
      'POST /api/v1/threads HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body,
    ].join('\r\n');

  it('get responses in order, however many there are and however large their bodies', async () => {
    const connection = await RawConnection.open(service);
    const titles = Array.from({ length: 60 }, (_, place) => `Title ${place}`);
    connection.send(
      titles.map((title) => post(JSON.stringify({ prompt: 'p'.repeat(30_000), title }))).join(''),
    );
    for (const title of titles) {
      const answer = await connection.answer('POST');
      assert.equal(answer.status, 201, answer.body);
      assert.equal(JSON.parse(answer.body).thread.title, title);
    }
    connection.close();
  });

  it('wait behind a held read, and then get their responses', async () => {
    const { body } = await api.create({ prompt: '#hang' });
    const connection = await RawConnection.open(service);
    connection.send(get(`/threads/${body.thread.id}`, 'Prefer: wait=1') + get('/threads/none').repeat(20));
    assert.equal((await connection.answer()).status, 200);
    for (let place = 0; place < 20; place += 1) assert.equal((await connection.answer()).status, 404);
    connection.close();
  });

  it('are handled no faster than the client reads the responses, and a client that reads none is cut off', {
    skip: process.platform !== 'linux' && 'reads memory and open files of the service from /proc',
  }, async (t) => {
    const clients = 10;
    const requests = 400;
    await sendMany(100, 8, () => api.create({ prompt: 'p', title: 't'.repeat(500) }));
    const { headers } = await api.list({ limit: 100 });
    assert.ok(Number(headers.get('content-length')) > 60_000, 'the answers are large');
    const handledBefore = await countLists(service);
    const filesBefore = openFiles(service);
    const memoryBefore = residentMebibytes(service);
    let memoryMax = 0;
    const connections = await Promise.all(
      Array.from({ length: clients }, async () => {
        const connection = await RawConnection.open(service);
        connection.stopReading();
        connection.send(get('/threads?limit=100').repeat(requests));
        return connection;
      }),
    );
    while (openFiles(service) < filesBefore + clients) await pause(5);
    const deadline = Date.now() + 60_000;
    while (openFiles(service) > filesBefore + 5) {
      assert.ok(Date.now() < deadline, 'the service cuts them off');
      assert.equal((await api.list({ limit: 1 })).status, 200);
      memoryMax = Math.max(memoryMax, residentMebibytes(service));
      await pause(50);
    }
    for (const connection of connections) connection.close();
    const handled = (await countLists(service)) - handledBefore;
    const grown = Math.round(memoryMax - memoryBefore);
    t.diagnostic(`${handled} of ${clients * requests} requests were handled; memory grew by ${grown} MiB`);
    // What the kernel buffers for a connection: a few MB of answers of more than 60 kB.
    assert.ok(handled < (clients * requests) / 2, `${handled} handled`);
    assert.ok(grown < 200, `${grown} MiB`);
  });
});

async function countLists(service: Service): Promise<number> {
  const labels = { route: '/api/v1/threads', method: 'GET' };
  const found = (await scrape(service)).find('skein_http_request_duration_seconds_count', labels);
  return found.reduce((sum, { value }) => sum + value, 0);
}

function openFiles({ pid }: Service): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function residentMebibytes({ pid }: Service): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
