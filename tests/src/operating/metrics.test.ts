import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findSection, tableRows } from '../../harness/documents/markdown.ts';
import { Api } from '../../harness/http/api.ts';
import { RawConnection } from '../../harness/http/raw-http.ts';
import { readMetricsUrl, type Scrape, scrape, untilScraped } from '../../harness/http/scrape.ts';
import { startPostgres } from '../../harness/postgres/server.ts';
import { serveAndFail } from '../../harness/service/failing-start.ts';
import { findProgram } from '../../harness/service/machine.ts';
import { root, Service, temporaryFolder } from '../../harness/service/service.ts';
import { sharedService, startWithoutDemo } from '../../harness/service/shared-service.ts';
import { makeApplication, requestToken } from '../../harness/world/applications.ts';
import { createThread, prepareStore, startWorld, type World } from '../../harness/world/world.ts';
import { readAlertRules } from './alert-rules.ts';

const onFreePort = { SKEIN_METRICS_PORT: '0' };
const promtool = findProgram('promtool');
const withoutPromtool = promtool === undefined && 'promtool is missing: install the package prometheus';
const requests = 'skein_http_request_duration_seconds_count';

describe('Metrics', () => {
  let world: World;
  before(async () => {
    world = await startWorld(onFreePort);
  });
  after(() => world.end());
  const now = () => scrape(world.service);
  const until = (condition: (scraped: Scrape) => boolean) => untilScraped(world.service, condition);
  /** Fails unless `act` increases the value by this much. */
  async function grows(
    by: number,
    name: string,
    labels: Record<string, string>,
    act: () => Promise<unknown>,
  ): Promise<void> {
    // A label that never occurred has no line yet.
    const read = (scraped: Scrape) =>
      scraped.find(name, labels).length > 0 ? scraped.value(name, labels) : 0;
    const start = read(await now());
    await act();
    await until((scraped) => read(scraped) === start + by);
  }

  it('are served at one address, without a credential, and nowhere else', async () => {
    const url = readMetricsUrl(world.service);
    assert.ok(url);
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    assert.equal((await fetch(url)).status, 200);
    assert.equal((await fetch(`${url}?name=x`)).status, 200);
    for (const path of ['/', '/metrics/', '/healthz', '/api/v1/threads', '/METRICS']) {
      const { status, headers } = await fetch(new URL(path, url));
      assert.deepEqual([status, headers.get('cache-control')], [404, 'no-store'], path);
    }
    for (const method of ['POST', 'HEAD', 'DELETE']) {
      assert.equal((await fetch(url, { method })).status, 404, method);
    }
    assert.equal((await fetch(`${world.service.baseUrl}/metrics`)).status, 404, 'not on the port of the API');
  });

  it('count requests by method, pattern and status', async () => {
    const { thread } = await createThread(world.ada);
    const got = { method: 'GET', route: '/api/v1/threads/:id', status: '200' };
    await grows(2, requests, got, async () => {
      await world.ada.get(thread.id);
      await world.ada.get(thread.id);
    });
    await world.nobody.get(thread.id);
    await world.ada.get('thr_missing');
    const scraped = await now();
    assert.ok(scraped.value(requests, { ...got, status: '401' }) >= 1);
    assert.ok(scraped.value(requests, { ...got, status: '404' }) >= 1);
    assert.ok(scraped.value('skein_http_request_duration_seconds_sum', got) > 0);
  });

  it('have no id, account, organization, key or address in any label', async () => {
    const { service, acme, adaKey } = world;
    const { thread } = await createThread(world.ada, { accountId: 'account-of-a-customer' });
    await world.ada.list({ accountId: 'account-of-a-customer' });
    await fetch(`${service.baseUrl}/nowhere/${thread.id}`, { method: 'PURGE' });
    await fetch(`${service.baseUrl}/api/v1/threads/${thread.id}/deeper`);
    const { text, samples } = await now();
    assert.ok(samples.some(({ labels }) => labels.route === 'unknown' && labels.method === 'other'));
    for (const secret of [
      thread.id,
      acme,
      adaKey.id,
      adaKey.key,
      'account-of',
      'nowhere',
      'deeper',
      'PURGE',
    ]) {
      assert.ok(!text.includes(secret), secret);
    }
  });

  it('count requests in flight, and drop those that were aborted', async () => {
    const { thread } = await createThread(world.ada, { prompt: '#hang' });
    const hungUp = new AbortController();
    const headers = { authorization: `Bearer ${world.adaKey.key}`, prefer: 'wait=60' };
    const waiting = fetch(`${world.service.baseUrl}/api/v1/threads/${thread.id}`, {
      headers,
      signal: hungUp.signal,
    });
    const connection = await RawConnection.open(world.service);
    connection.send(
      `POST /api/v1/threads HTTP/1.1\r\nhost: x\r\nauthorization: ${headers.authorization}\r\n` +
        'content-type: application/json\r\ncontent-length: 100\r\n\r\n{"prompt":',
    );
    await until(
      (scraped) =>
        scraped.value('skein_http_requests_in_flight') === 2 && scraped.value('skein_waiting_reads') === 1,
    );
    hungUp.abort();
    await assert.rejects(waiting);
    connection.close();
    await until(
      (scraped) =>
        scraped.value('skein_http_requests_in_flight') === 0 && scraped.value('skein_waiting_reads') === 0,
    );
    await world.ada.delete(thread.id);
  });

  it('count no rejected read as waiting', async () => {
    const { key, id } = await world.service.skein('key', 'create', world.acme, '--org-wide');
    const caller = world.as(key);
    const { thread } = await createThread(world.ada, { prompt: '#hang' });
    await world.publish(thread.id);
    assert.equal((await caller.get(thread.id)).status, 200);
    await world.service.skein('key', 'revoke', world.acme, id);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => caller.get(thread.id, { prefer: 'wait=25' })),
    );
    assert.ok(answers.every(({ status }) => status === 401));
    assert.equal((await now()).value('skein_waiting_reads'), 0);
    await world.ada.delete(thread.id);
  });

  it('count rejections: above the quota, and before a request is parsed', async () => {
    const { id } = await world.service.skein('org', 'create', 'Thrifty', '--quota', '1');
    const { key } = await world.service.skein('key', 'create', id, '--org-wide');
    await grows(2, 'skein_quota_rejections_total', {}, async () => {
      const statuses: number[] = [];
      for (let index = 0; index < 3; index += 1) statuses.push((await world.as(key).list()).status);
      assert.deepEqual(statuses, [200, 429, 429]);
    });
    await grows(1, 'skein_http_refused_total', {}, async () => {
      const connection = await RawConnection.open(world.service);
      connection.send('This is not HTTP.\r\n\r\n');
      assert.equal((await connection.answer()).status, 400);
      connection.close();
    });
  });

  it('count token requests by outcome', async () => {
    const application = await makeApplication(world.service, world.acme);
    const { baseUrl } = world.service;
    const counted = 'skein_token_requests_total';
    await grows(1, counted, { outcome: 'issued' }, () => requestToken(baseUrl, application));
    const guess = { ...application, clientSecret: 'eas_wrong' };
    await grows(10, counted, { outcome: 'invalid-client' }, async () => {
      for (let index = 0; index < 10; index += 1) await requestToken(baseUrl, guess);
    });
    await grows(1, counted, { outcome: 'throttled' }, () => requestToken(baseUrl, guess));
  });

  it('count each reply once, by outcome, and its duration', async () => {
    const ask = async (prompt: string) => (await createThread(world.ada, { prompt })).thread.id;
    const ended = (outcome: string, act: () => Promise<unknown>) =>
      grows(1, 'skein_replies_ended_total', { outcome }, act);
    const took = (outcome: string, act: () => Promise<unknown>) =>
      grows(1, 'skein_reply_duration_seconds_count', { model: 'scripted', outcome }, act);

    await took('completed', () =>
      ended('completed', async () => world.ada.untilDone(await ask('#say Yes.'))),
    );
    await took('failed', () => ended('failed', async () => world.ada.untilDone(await ask('#fail'))));
    await took('stopped', () =>
      ended('cancelled', async () => {
        const hanging = await ask('#hang');
        await until((scraped) => scraped.value('skein_replies_being_written') === 1);
        await world.ada.delete(hanging);
      }),
    );
    await took('retried', () =>
      grows(1, 'skein_replies_retried_total', {}, () =>
        ended('completed', async () => world.ada.untilDone(await ask('#retry 2\n#say Yes.'))),
      ),
    );
    await until((scraped) => scraped.value('skein_replies_being_written') === 0);
  });

  it('show replies that a worker holds', async () => {
    const { thread } = await createThread(world.ada, { prompt: '#hang' });
    const held = await until((scraped) => scraped.value('skein_replies_being_written') === 1);
    assert.equal(held.value('skein_replies_running', { state: 'held' }), 1);
    assert.equal(held.value('skein_reply_slots'), 256);
    await world.ada.delete(thread.id);
    await until((scraped) => scraped.value('skein_replies_running', { state: 'held' }) === 0);
  });
});

describe('Metrics of other processes', () => {
  it('show how many replies wait for a worker and how long; a worker has metrics, too, and stops cleanly', async () => {
    const { folder, adaKey } = await prepareStore();
    const environment = { SKEIN_MODEL: 'scripted', ...onFreePort };
    const api = await Service.start({ folder, environment, words: ['--role', 'api'] });
    await createThread(new Api(api.baseUrl, adaKey.key));
    const waits = await untilScraped(
      api,
      (scraped) => scraped.value('skein_replies_oldest_waiting_seconds') > 0.1,
    );
    assert.equal(waits.value('skein_replies_running', { state: 'waiting' }), 1);
    assert.equal(waits.value('skein_replies_running', { state: 'held' }), 0);
    assert.equal(waits.value('skein_reply_slots'), 0);
    assert.equal(waits.value('skein_build_info', { role: 'api', store: 'sqlite', model: 'scripted' }), 1);

    const worker = await Service.start({ folder, environment, words: ['--role', 'worker'] });
    const done = await untilScraped(
      worker,
      (scraped) => scraped.value('skein_replies_ended_total', { outcome: 'completed' }) === 1,
    );
    assert.equal(done.value('skein_build_info', { role: 'worker' }), 1);
    assert.equal((await scrape(api)).value('skein_replies_oldest_waiting_seconds'), 0);

    // A scraper keeps its connection open, which must not keep the process running.
    const url = readMetricsUrl(worker)!;
    const connection = await RawConnection.open({ baseUrl: url });
    connection.send('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
    assert.equal((await connection.answer()).status, 200);
    assert.equal(await worker.end(), 0);
    await assert.rejects(fetch(url));
    assert.equal(await api.end(), 0);
  });

  it('count a reply that failed at its deadline, even if no worker ever claimed it', async () => {
    const { folder, adaKey } = await prepareStore();
    const environment = { SKEIN_REPLY_DEADLINE_MS: '300', ...onFreePort };
    const service = await Service.start({ folder, environment, words: ['--role', 'api'] });
    await createThread(new Api(service.baseUrl, adaKey.key));
    const failed = await untilScraped(
      service,
      (scraped) => scraped.value('skein_replies_ended_total', { outcome: 'failed' }) === 1,
    );
    assert.deepEqual(failed.find('skein_reply_duration_seconds_count'), []);
    assert.equal(await service.end(), 0);
  });

  it('are not served by default', async () => {
    assert.equal(readMetricsUrl(await sharedService()), undefined);
  });

  it('require a separate port', async () => {
    const { port } = new URL((await sharedService()).baseUrl);
    const { exitCode, stderr } = await serveAndFail(temporaryFolder(), { SKEIN_METRICS_PORT: port });
    assert.equal(exitCode, 1);
    assert.match(stderr, /^skein: SKEIN_METRICS_PORT \d+ is already in use on 127\.0\.0\.1: [^\n]+\n$/);
  });
});

describe('Metrics of a service on either store', () => {
  const document = readFileSync(join(root, 'docs/monitoring.md'), 'utf8');
  const documented = tableRows(findSection(document, '## Metrics'));
  let database: Awaited<ReturnType<typeof startPostgres>>;
  let service: Service;
  let embedded: Service;
  before(async () => {
    database = await startPostgres();
    service = await Service.start({ environment: { SKEIN_DATABASE_URL: database.url, ...onFreePort } });
    embedded = await startWithoutDemo(onFreePort);
    for (const { baseUrl } of [service, embedded])
      assert.equal((await fetch(`${baseUrl}/readyz`)).status, 200);
  });
  after(async () => {
    await Promise.all([service?.end(), embedded?.end()]);
    await database?.remove();
  });
  const scrapeBoth = async () => {
    const scrapes = await Promise.all([scrape(service), scrape(embedded)]);
    return {
      kinds: new Map(scrapes.flatMap(({ kinds }) => [...kinds])),
      samples: scrapes.flatMap(({ samples }) => samples),
    };
  };
  /** The metric names in an expression, without the suffixes that Prometheus adds for a histogram. */
  const namesIn = (text: string) =>
    [...text.matchAll(/\b(?:skein|process|nodejs)_\w+/g)].map(([name]) =>
      name.replace(/_(bucket|count|sum)$/, ''),
    );

  it('are all in the table of docs/monitoring.md, with their kinds and labels', async () => {
    const scraped = await scrapeBoth();
    const own = [...scraped.kinds.keys()].filter((name) => !/^(process|nodejs)_/.test(name));
    assert.deepEqual(documented.map(([name]) => name).sort(), own.sort());
    for (const [name = '', kind, labels = ''] of documented) {
      assert.equal(kind, scraped.kinds.get(name), name);
      const used = scraped.samples.find((sample) => namesIn(sample.name)[0] === name);
      assert.ok(used, name);
      assert.deepEqual(
        [...labels.matchAll(/\w+/g)].map(([label]) => label).sort(),
        Object.keys(used.labels)
          .filter((label) => label !== 'le')
          .sort(),
        name,
      );
    }
  });

  it('include everything that the alerts and the dashboard query', async () => {
    const { kinds } = await scrapeBoth();
    const alerts = readAlertRules().map(({ expr }) => expr);
    const dashboard = JSON.parse(readFileSync(join(root, 'docs/grafana-dashboard.json'), 'utf8'));
    const panels: { type: string; targets?: { expr: string }[] }[] = dashboard.panels;
    const drawn = panels.filter(({ type }) => type !== 'row');
    assert.ok(drawn.length > 15);
    const expressions = drawn.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    for (const expression of [...alerts.filter((alert) => !alert.startsWith('up{')), ...expressions]) {
      const asked = namesIn(expression);
      assert.ok(asked.length > 0, expression);
      for (const name of asked) assert.ok(kinds.has(name), `${name}, in ${expression}, is not served`);
    }
    const shown = new Set(expressions.flatMap(namesIn));
    for (const [name = ''] of documented) assert.ok(shown.has(name), `the dashboard leaves out ${name}`);
  });

  it('have names, kinds and units that promtool accepts', { skip: withoutPromtool }, async () => {
    for (const { text } of [await scrape(service), await scrape(embedded)]) {
      const { status, stderr } = spawnSync(promtool!, ['check', 'metrics'], {
        input: text,
        encoding: 'utf8',
      });
      assert.equal(status, 0, stderr);
      assert.equal(stderr, '');
    }
  });

  it('show the free disk space of the embedded store, and none on PostgreSQL', async () => {
    const { bavail, bsize } = statfsSync(embedded.folder);
    const free = (await scrape(embedded)).value('skein_store_disk_free_bytes');
    assert.ok(free > (bavail * bsize) / 2 && free < bavail * bsize * 2, `${free} of ${bavail * bsize}`);
    assert.deepEqual((await scrape(service)).find('skein_store_disk_free_bytes'), []);
  });

  it('report connections and an unavailable store, without failing', async () => {
    const up = await untilScraped(service, (scraped) => scraped.value('skein_store_up') === 1);
    assert.ok(up.value('skein_database_connections') >= 1);
    assert.equal(up.value('skein_replies_running', { state: 'waiting' }), 0);
    await database.stop('immediate');
    const away = await untilScraped(service, (scraped) => scraped.value('skein_store_up') === 0);
    assert.ok(Number.isNaN(away.value('skein_replies_running', { state: 'waiting' })));
    assert.ok(Number.isNaN(away.value('skein_replies_oldest_waiting_seconds')));
    assert.ok(away.value('process_resident_memory_bytes') > 0);
    await database.start();
    await untilScraped(service, (scraped) => scraped.value('skein_store_up') === 1);
  });
});
