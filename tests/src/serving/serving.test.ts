import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import { RawConnection } from '../../harness/http/raw-http.ts';
import { eventually, waitMsMax } from '../../harness/service/eventually.ts';
import { serveAndFail } from '../../harness/service/failing-start.ts';
import { cleanEnvironment, operate, root, Service, temporaryFolder } from '../../harness/service/service.ts';
import { hire, makeOrganization } from '../../harness/world/tenants.ts';
import { createThread } from '../../harness/world/world.ts';

const certificateFile = join(root, 'tests/stand-ins/localhost-certificate.pem');
const keyFile = join(root, 'tests/stand-ins/localhost-key.pem');

const started: Service[] = [];
const folders = temporaryFolder();
const newFolder = () => mkdtempSync(join(folders, 'serving-'));

/** A service with one organization and a key of its one member. */
async function startWithKey(
  environment: Record<string, string> = {},
): Promise<{ service: Service; key: string }> {
  const folder = newFolder();
  const operator = { skein: (...words: string[]) => operate(folder, words) };
  const { key } = await hire(operator, await makeOrganization(operator, 'Acme'), 'ada@acme.example');
  return { service: await start(folder, environment), key };
}

async function start(folder: string, environment: Record<string, string> = {}): Promise<Service> {
  const service = await Service.start({ folder, environment: { SKEIN_MODEL: 'scripted', ...environment } });
  started.push(service);
  return service;
}

after(() => Promise.all(started.map((service) => service.end('SIGKILL'))));

function untilLogged(service: Service, message: string): Promise<boolean> {
  return eventually(() => service.output.some((line) => line.includes(`"msg":"${message}"`)));
}

/** The listener closes some time after the line `stopping`. */
function untilRefused({ baseUrl }: Service): Promise<boolean> {
  return eventually(() =>
    fetch(`${baseUrl}/healthz`).then(
      () => false,
      () => true,
    ),
  );
}

/** Stops the service and fails unless it stops cleanly and soon. */
async function stopsCleanly(service: Service, withinMs = 9000): Promise<void> {
  const began = Date.now();
  assert.equal(await service.end(), 0);
  assert.ok(Date.now() - began < withinMs, `stopping took ${Date.now() - began} ms`);
}

/** A create with half of its body sent. The response to the preceding list shows that its headers were read. */
async function openHalfCreate(
  service: Service,
  key: string,
): Promise<{ connection: RawConnection; rest: string }> {
  const body = '{"prompt":"Half of me was there when the signal came."}';
  const fields = `Host: skein.test\r\nAuthorization: Bearer ${key}\r\n`;
  const connection = await RawConnection.open(service);
  connection.send(
    `GET /api/v1/threads HTTP/1.1\r\n${fields}\r\nPOST /api/v1/threads HTTP/1.1\r\n${fields}` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  );
  assert.equal((await connection.answer()).status, 200);
  return { connection, rest: body.slice(10) };
}

describe('Stopping', { concurrency: 2 }, () => {
  it('finishes a request in flight and rejects new ones', async () => {
    const { service, key } = await startWithKey();
    const { connection, rest } = await openHalfCreate(service, key);
    const ended = service.end();
    await untilLogged(service, 'stopping');
    await untilRefused(service);
    connection.send(rest);
    const made = await connection.answer('POST');
    assert.equal(made.status, 201);
    connection.close();
    assert.equal(await ended, 0);

    const again = await start(service.folder);
    const { thread } = JSON.parse(made.body);
    assert.equal((await new Api(again.baseUrl, key).get(thread.id)).status, 200);
    await stopsCleanly(again);
  });

  for (const [origin, fault] of [
    ['uncaughtException', `throw(new(Error)('a-fault'))`],
    ['unhandledRejection', `Promise.reject(new(Error)('a-fault'))`],
  ] as const) {
    it(`finishes a request in flight and exits with 1 after an ${origin}`, async () => {
      // Without spaces and double quotes, which NODE_OPTIONS would interpret.
      const causeOnSignal = `data:text/javascript,process.on('SIGUSR2',()=>{${fault}})`;
      const { service, key } = await startWithKey({ NODE_OPTIONS: `--import=${causeOnSignal}` });
      const { connection, rest } = await openHalfCreate(service, key);
      service.signal('SIGUSR2');
      await untilLogged(service, 'stopping');
      await untilRefused(service);
      connection.send(rest);
      assert.equal((await connection.answer('POST')).status, 201);
      connection.close();
      assert.equal(await service.exit(), 1);
      const lines = service.output
        .filter((line) => line.includes('"level":60'))
        .map((line) => JSON.parse(line));
      assert.deepEqual(
        lines.map(({ msg, origin, err }) => [msg, origin, err.message]),
        [['uncaught exception', origin, 'a-fault']],
      );
    });
  }

  it('ends at once when asked a second time', async () => {
    const { service, key } = await startWithKey();
    const { connection } = await openHalfCreate(service, key);
    const ended = service.end();
    await untilLogged(service, 'stopping');
    const began = Date.now();
    // Signals within the first half second do not count.
    const repeating = setInterval(() => service.signal('SIGTERM'), 100);
    assert.notEqual(await ended.finally(() => clearInterval(repeating)), 0);
    // The service would wait ten seconds for a request that never arrives completely.
    assert.ok(Date.now() - began < 9000, `${Date.now() - began} ms`);
    connection.close();
  });

  it('does not wait for idle connections', async () => {
    const { service, key } = await startWithKey();
    const silent = await RawConnection.open(service);
    const idle = await RawConnection.open(service);
    idle.send(`GET /api/v1/threads HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    assert.equal((await idle.answer()).status, 200);
    await stopsCleanly(service);
    silent.close();
    idle.close();
  });

  it('loses no acknowledged write under load, and either completes each request or drops it before it has any effect', async () => {
    const { service, key } = await startWithKey();
    const api = new Api(service.baseUrl, key);
    const acknowledged: string[] = [];
    const busy = Promise.withResolvers<void>();
    const write = async () => {
      for (;;) {
        const answer = await api.create({ prompt: 'One of many' }).catch(() => undefined);
        if (answer?.status !== 201) return answer?.status;
        acknowledged.push(answer.body.thread.id);
        if (acknowledged.length === 50) busy.resolve();
      }
    };
    const writing = Promise.all(Array.from({ length: 8 }, write));
    await busy.promise;
    await stopsCleanly(service);
    // Either the error envelope, or a closed connection.
    for (const status of await writing) assert.ok(status === undefined || status === 500, String(status));

    const again = await start(service.folder);
    const kept = (await new Api(again.baseUrl, key).walk({ limit: 100 })).map(({ id }) => id).sort();
    assert.deepEqual(
      acknowledged.filter((id) => !kept.includes(id)),
      [],
    );
    assert.ok(
      kept.length - acknowledged.length <= 8,
      'at most the last write of each caller went unanswered',
    );
    await stopsCleanly(again);
  });

  it('hands replies back, and the next start finishes them without waiting for a lease', async () => {
    const { service, key } = await startWithKey();
    const api = new Api(service.baseUrl, key);
    const { body } = await api.create({ prompt: '#step Working\n#wait 1000\n#say Done.' });
    await api.until(body.thread.id, ({ status }) => status.stepCount === 1);
    await stopsCleanly(service);

    const again = await start(service.folder);
    const began = Date.now();
    const { messages } = await new Api(again.baseUrl, key).untilDone(body.thread.id);
    assert.deepEqual([messages[1].status, messages[1].content], ['completed', 'Done.']);
    // The default lease is 15 s.
    assert.ok(Date.now() - began < 8000, `${Date.now() - began} ms`);
    await stopsCleanly(again);
  });
});

describe('A service that is busy', () => {
  const connections = 1000;
  const limitFile = '/proc/sys/net/core/somaxconn';
  const hasRoom = existsSync(limitFile) && Number(readFileSync(limitFile, 'utf8')) >= connections;

  it('keeps a thousand new connections until it can accept them', {
    skip: !hasRoom && `needs Linux with room for ${connections} connections in net.core.somaxconn`,
    timeout: waitMsMax,
  }, async () => {
    const service = await start(newFolder());
    service.signal('SIGSTOP');
    const opened = await Promise.all(Array.from({ length: connections }, () => RawConnection.open(service)));
    service.signal('SIGCONT');
    for (const connection of opened) connection.send('GET /healthz HTTP/1.1\r\nHost: skein\r\n\r\n');
    for (const connection of opened) {
      assert.equal((await connection.answer()).status, 200);
      connection.close();
    }
    await stopsCleanly(service);
  });
});

describe('Health', () => {
  it('is public: liveness on /healthz, readiness on /readyz', async () => {
    // A process that was asked for /readyz drains for 5 s by default.
    const { service } = await startWithKey({ SKEIN_DRAIN_MS: '0' });
    for (const [path, status] of [
      ['/healthz', 'ok'],
      ['/readyz', 'ready'],
    ]) {
      const response = await fetch(service.baseUrl + path);
      assert.equal(response.status, 200);
      assert.deepEqual(await response.json(), { status });
    }
    await stopsCleanly(service);
  });
});

describe('TLS', () => {
  it('is the only protocol when a certificate and its key are configured', async () => {
    const { service, key } = await startWithKey({ SKEIN_TLS_CERT: certificateFile, SKEIN_TLS_KEY: keyFile });
    assert.match(service.baseUrl, /^https:/);
    const { status, body } = await getByTls(`${service.baseUrl}/api/v1/threads`, key);
    assert.equal(status, 200);
    assert.deepEqual(body.threads, []);
    await assert.rejects(fetch(service.baseUrl.replace('https:', 'http:')));
    await stopsCleanly(service);
  });
});

function getByTls(url: string, key: string): Promise<{ status: number | undefined; body: any }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    httpsRequest(url, { ca: readFileSync(certificateFile), headers, agent: false }, async (response) => {
      const text = (await response.setEncoding('utf8').toArray()).join('');
      resolve({ status: response.statusCode, body: JSON.parse(text) });
    })
      .on('error', reject)
      .end();
  });
}

describe('The folder of the service', () => {
  it('may be removed while it runs', async () => {
    const folder = newFolder();
    const service = await start(folder, {
      SKEIN_DATABASE_URL: `sqlite:${join(newFolder(), 'skein.db')}`,
      SKEIN_MODEL: 'extractive',
    });
    rmSync(folder, { recursive: true });
    const api = new Api(service.baseUrl, /eak_\w+/.exec(service.output.join('\n'))?.[0]);
    const { thread } = await createThread(api);
    assert.equal((await api.untilDone(thread.id)).status.state, 'idle');
    await stopsCleanly(service);
  });
});

describe('The demo', () => {
  const curlLine = (output: readonly string[]) => output.find((line) => /^ *curl /.test(line))?.trim();

  it('greets only the first start with a curl line that works when pasted', async () => {
    const service = await start(newFolder());
    const line = curlLine(service.output);
    assert.ok(line, service.output.join('\n'));
    const { stdout, stderr } = spawnSync('sh', ['-c', line], { env: cleanEnvironment({}), encoding: 'utf8' });
    assert.match(JSON.parse(stdout || stderr).thread.id, /^thr_/);
    await stopsCleanly(service);

    const again = await start(service.folder);
    assert.equal(curlLine(again.output), undefined);
    assert.equal(again.output.join('\n').includes('eak_'), false);
    await stopsCleanly(again);
  });

  it('is not created for a service that others can reach: it says how to create the first organization', async () => {
    for (const environment of [
      { SKEIN_HOST: '0.0.0.0' },
      { SKEIN_BASE_URL: 'https://skein.example' },
    ] as Record<string, string>[]) {
      const service = await start(newFolder(), environment);
      const printed = service.output.join('\n');
      assert.doesNotMatch(printed, /eak_|\/invitation/);
      assert.deepEqual(await service.skein('org', 'list'), []);
      const commands = service.output
        .filter((line) => line.startsWith('  npx skein '))
        .map((line) => line.trim());
      assert.equal(commands.length, 3, printed);
      for (const command of commands) await service.skein(...command.split(' ').slice(2));
      await stopsCleanly(service);
      const again = await start(service.folder, environment);
      assert.doesNotMatch(again.output.join('\n'), /npx skein/);
      await stopsCleanly(again);
    }
  });

  it('is completed by the next start if the first one was killed while creating it', async () => {
    const folder = newFolder();
    await operate(folder, ['org', 'create', 'Demo']);
    await operate(folder, ['member', 'add', 'Demo', 'admin@demo.example', '--role', 'admin']);
    const service = await start(folder);
    const line = curlLine(service.output);
    assert.ok(line, service.output.join('\n'));
    const { stdout, stderr } = spawnSync('sh', ['-c', line], { env: cleanEnvironment({}), encoding: 'utf8' });
    assert.match(JSON.parse(stdout || stderr).thread.id, /^thr_/);
    assert.ok((await service.skein('doc', 'list', 'Demo')).length > 0);
    await stopsCleanly(service);
    const again = await start(folder);
    assert.equal(curlLine(again.output), undefined);
    await stopsCleanly(again);
  });

  it('is created once by services that start on the same store at the same time', async () => {
    const folder = newFolder();
    const services = await Promise.all(Array.from({ length: 3 }, () => start(folder)));
    assert.equal(services.filter(({ output }) => curlLine(output) !== undefined).length, 1);
    assert.equal((await operate(folder, ['org', 'list'])).length, 1);
    assert.equal((await operate(folder, ['key', 'list', 'Demo'])).length, 1);
    for (const service of services) await stopsCleanly(service);
  });

  it('is also created if the base URL is on this machine', async () => {
    const service = await start(newFolder(), { SKEIN_BASE_URL: 'http://localhost:8080' });
    assert.ok(curlLine(service.output));
    await stopsCleanly(service);
  });

  it('is still created after a start that failed or could not show it', async () => {
    const other = await start(newFolder());
    const folder = newFolder();
    const failed = await serveAndFail(folder, { SKEIN_PORT: new URL(other.baseUrl).port });
    assert.equal(failed.exitCode, 1);
    const worker = await Service.start({ folder, words: ['--role', 'worker'] });
    started.push(worker);
    assert.equal(curlLine(worker.output), undefined);
    await stopsCleanly(worker);
    const service = await start(folder);
    assert.ok(curlLine(service.output));
    await stopsCleanly(service);
    await stopsCleanly(other);
  });
});
