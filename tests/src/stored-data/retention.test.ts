import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import pg from 'pg';
import { ConsoleClient, signedInMember, testPassword } from '../../harness/console/console-client.ts';
import { Api } from '../../harness/http/api.ts';
import { type Scrape, untilScraped } from '../../harness/http/scrape.ts';
import { runSkein, Service, temporaryFolder } from '../../harness/service/service.ts';
import { clockOffBy, dayMs } from '../../harness/service/shifted-clock.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';
import { createThread } from '../../harness/world/world.ts';

const email = 'ada@acme.example';

describeOnEachEngine('Retention', ({ engine, freshStore }) => {
  const folder = temporaryFolder();
  let environment: Record<string, string>;
  let service: Service;
  let organization: string;
  let key: string;
  let deleted: string;
  let kept: string;

  before(async () => {
    environment = {
      ...(await freshStore()),
      SKEIN_MODEL: 'scripted',
      SKEIN_METRICS_PORT: '0',
      SKEIN_RETENTION_DELETED_THREADS_DAYS: '2',
      SKEIN_RETENTION_AUDIT_DAYS: '2',
      SKEIN_RETENTION_USAGE_DAYS: '2',
    };
    service = await Service.start({ folder, environment });
    ({ id: organization } = await service.skein('org', 'create', 'Acme'));
    await signedInMember(service, organization, email);
    ({ key } = await service.skein('key', 'create', organization, '--user', email));
    const api = new Api(service.baseUrl, key);
    deleted = (await createThread(api, { prompt: '#say Gone soon.' })).thread.id;
    const { body: made } = await api.create({ prompt: '#say Kept.' }, { 'idempotency-key': 'once' });
    kept = made.thread.id;
    await api.untilDone(deleted);
    assert.equal((await api.delete(deleted)).status, 200);
    assert.equal(await service.end(), 0);
  });
  after(() => service.end());

  /**
   * The environment of a process three days later. The clock of PostgreSQL cannot be shifted, so its rows are
   * backdated.
   */
  async function threeDaysLater(): Promise<Record<string, string>> {
    if (engine === 'SQLite') return { ...environment, ...clockOffBy(3 * dayMs) };
    const client = new pg.Client({ connectionString: environment.SKEIN_DATABASE_URL! });
    await client.connect();
    await client.query(`UPDATE thread SET deleted_at = deleted_at - ${3 * dayMs};
      UPDATE audit_event SET at = at - ${3 * dayMs}; UPDATE usage_day SET day = day - 3; UPDATE quota_use SET day = day - 3;
      UPDATE idempotency_key SET expires_at = expires_at - ${3 * dayMs};
      UPDATE session SET expires_at = expires_at - ${30 * dayMs}`);
    await client.end();
    return environment;
  }

  it('is reported by the doctor, enforced by the service and counted by its metric', async () => {
    const later = await threeDaysLater();
    const { stdout } = await runSkein(folder, ['doctor', '--json'], later);
    const find = ({ check }: { check: string }) => check === 'retention';
    const { detail, ok } = JSON.parse(stdout).findings.find(find);
    assert.ok(ok);
    assert.match(detail, /deleted threads after 2 d \(1 due\).*idempotency keys once expired \(1 due\)/);
    service = await Service.start({ folder, environment: later });
    const removed = (scraped: Scrape, kind: string) =>
      scraped.value('skein_retention_removed_total', { kind });
    const scraped = await untilScraped(service, (each) => removed(each, 'idempotency_keys') === 1);
    assert.equal(removed(scraped, 'deleted_threads'), 1);
    assert.equal(removed(scraped, 'quota_days'), 1);
    assert.ok(removed(scraped, 'usage_days') > 0 && removed(scraped, 'audit_events') > 0);
    const lastPass = (each: Scrape) => each.value('skein_retention_last_pass_timestamp_seconds');
    // Until its first pass has ended, the metric is the time of the start, which is before the service listened.
    const listening = service.output.find((line) => line.includes('"msg":"listening"'));
    const listeningAt = Date.parse(JSON.parse(listening ?? '').time) / 1000;
    await untilScraped(service, (each) => lastPass(each) >= listeningAt);
    const { stdout: after } = await runSkein(folder, ['doctor', '--json'], later);
    assert.match(JSON.parse(after).findings.find(find).detail, /deleted threads after 2 d \(0 due\)/);
  });

  it('keeps threads that are not deleted, and reports a removed thread as gone', async () => {
    const api = new Api(service.baseUrl, key);
    assert.deepEqual(
      (await api.walk()).map(({ id }) => id),
      [kept],
    );
    assert.equal((await api.get(kept)).body.messages.length, 2);
    assert.equal((await api.get(deleted)).status, 404);
    const ada = new ConsoleClient(service.baseUrl);
    assert.equal((await ada.signIn(email, testPassword)).status, 200);
    const { status, body } = await ada.post(ada.at(`/threads/${deleted}/restore`));
    assert.equal(status, 404);
    assert.match(body.error.message, /deletion can no longer be undone/);
  });
});
