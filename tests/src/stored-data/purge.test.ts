import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { type ConsoleClient, signedInMember } from '../../harness/console/console-client.ts';
import { Api } from '../../harness/http/api.ts';
import { untilScraped } from '../../harness/http/scrape.ts';
import { eventually } from '../../harness/service/eventually.ts';
import { cleanEnvironment, launcher, runCommand, type Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { exchange, makeApplication } from '../../harness/world/applications.ts';
import { describeOnEachEngine } from '../../harness/world/engines.ts';
import { createThread } from '../../harness/world/world.ts';

const manyThreads = 300;

describeOnEachEngine('skein purge', ({ freshStore }) => {
  let service: Service;
  let acme: string;
  let globex: string;
  let ada: ConsoleClient;
  let adaApi: Api;
  let benApi: Api;

  before(async () => {
    service = await startWithoutDemo({ ...(await freshStore()), SKEIN_METRICS_PORT: '0' });
    ({ id: acme } = await service.skein('org', 'create', 'Acme', '--quota', '100000'));
    ({ id: globex } = await service.skein('org', 'create', 'Globex'));
    ada = await signedInMember(service, acme, 'ada@acme.example');
    await service.skein('member', 'add', acme, 'ben@acme.example', '--role', 'admin');
    await service.skein('member', 'add', globex, 'ben@acme.example');
    const key = async (organization: string, email: string) => {
      const made = await service.skein(
        'key',
        'create',
        organization,
        '--user',
        email,
        '--name',
        `${email} laptop`,
      );
      return new Api(service.baseUrl, made.key);
    };
    adaApi = await key(acme, 'ada@acme.example');
    benApi = await key(acme, 'ben@acme.example');
    const guide = join(service.folder, 'guide.md');
    writeFileSync(guide, '# Refunds\n\nA refund takes five days.\n');
    await service.skein('doc', 'add', acme, guide);
  });
  after(() => service.end());

  const purge = (...words: string[]) =>
    runCommand(service.folder, ['purge', ...words, '--json'], service.store);
  async function purged(...words: string[]): Promise<any> {
    const { exitCode, stdout, stderr } = await purge(...words);
    assert.equal(exitCode, 0, stderr);
    return JSON.parse(stdout);
  }

  it('requires --yes or --dry-run, and a known person or organization', async () => {
    for (const [words, sentence] of [
      [[acme], /cannot be undone: add --dry-run .* or --yes/],
      [[acme, '--yes', '--dry-run'], /cannot be undone/],
      [['Nobody', '--yes'], /Nobody/],
      [[acme, '--user', 'eve@acme.example', '--yes'], /No data is stored for eve@acme\.example/],
      [[acme, '--user', '', '--yes'], /The value of '--user' is empty/],
    ] as const) {
      const { exitCode, stdout, stderr } = await purge(...words);
      assert.deepEqual([exitCode, stdout], [1, '']);
      assert.match(stderr, sentence);
    }
  });

  it('removes a person from a running service at once, as the dry run says', async () => {
    const { thread } = await createThread(adaApi, { prompt: '#say Mine.' });
    await adaApi.untilDone(thread.id);
    await service.skein('thread', 'publish', acme, thread.id);
    const { thread: bens } = await createThread(benApi, { prompt: '#say Bens.' });
    await benApi.untilDone(bens.id);
    await createThread(adaApi, { prompt: '#hang' });
    await untilScraped(service, (scraped) => scraped.value('skein_replies_being_written') === 1);
    assert.equal((await benApi.get(thread.id)).status, 200);

    const planned = await purged(acme, '--user', 'Ada@acme.example', '--dry-run');
    assert.deepEqual([planned.dryRun, planned.rows.thread, planned.rows.message], [true, 2, 4]);
    assert.equal((await adaApi.list()).status, 200, 'a dry run changes nothing');
    const done = await purged(acme, '--user', 'ada@acme.example', '--yes');
    for (const kind of ['thread', 'message', 'api_key', 'member', 'session', 'password', 'user'])
      assert.deepEqual([kind, done.rows[kind]], [kind, planned.rows[kind]]);

    assert.equal((await adaApi.list()).status, 401);
    assert.equal((await ada.get(ada.at('/threads'))).status, 401);
    assert.equal((await benApi.get(thread.id)).status, 404);
    assert.deepEqual(
      (await benApi.walk()).map(({ id }) => id),
      [bens.id],
    );
    await untilScraped(service, (scraped) => scraped.value('skein_replies_being_written') === 0);
    const log = JSON.stringify(await service.skein('audit', acme));
    assert.ok(log.includes('usr_purged'));
    assert.ok(!log.includes('ada@acme.example'), log);
    assert.match((await purge(acme, '--user', 'ada@acme.example', '--yes')).stderr, /No data is stored for/);
  });

  it('removes an organization even if it is killed halfway and run again, and nothing of other organizations', async (t) => {
    const threads = Array.from({ length: manyThreads }, (_, turn) =>
      createThread(benApi, { prompt: `#say ${turn}` }),
    );
    await Promise.all(threads);
    const application = await makeApplication(service, acme);
    const token = await exchange(service.baseUrl, application);
    await createThread(benApi, { prompt: '#hang' });
    const planned = await purged(acme, '--dry-run');
    assert.ok(
      planned.rows.thread > manyThreads && planned.rows.passage > 0 && planned.rows.organization === 1,
    );

    // Credentials are removed first: when they are rejected, the purge is still running.
    const killed = spawn(launcher, ['purge', acme, '--yes'], {
      cwd: service.folder,
      env: cleanEnvironment(service.store),
      stdio: 'ignore',
      detached: true,
    });
    const exited = once(killed, 'exit');
    await eventually(
      () => benApi.list(),
      ({ status }) => status === 401,
    );
    process.kill(-killed.pid!, 'SIGKILL');
    await exited;
    const organizations = async () =>
      (await service.skein('org', 'list')).map(({ id }: { id: string }) => id);
    assert.ok((await organizations()).includes(acme), 'it was killed in its middle');
    const rest = await purged(acme, '--dry-run');
    t.diagnostic(`${rest.rows.message ?? 0} of ${planned.rows.message} messages were left by the kill`);

    await purged(acme, '--yes');
    assert.deepEqual((await organizations()).includes(acme), false);
    assert.equal((await benApi.list()).status, 401);
    assert.equal((await new Api(service.baseUrl, token).list()).status, 401);
    await untilScraped(service, (scraped) => scraped.value('skein_replies_being_written') === 0);
    assert.equal((await service.skein('member', 'list', globex)).length, 1, 'ben is still known at Globex');
    assert.match((await purge(acme, '--yes')).stderr, /org_/);
    assert.equal((await service.skein('doctor')).healthy, true);
  });
});
