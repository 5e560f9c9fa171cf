import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { Api } from '../../harness/http/api.ts';
import { RawConnection } from '../../harness/http/raw-http.ts';
import { findProgram } from '../../harness/service/machine.ts';
import {
  cleanEnvironment,
  launcher,
  operate,
  Service,
  temporaryFolder,
} from '../../harness/service/service.ts';
import { hire, makeOrganization } from '../../harness/world/tenants.ts';

/** Values that nothing else sends, so that one in the log means that it leaked. */
const secret = {
  prompt: 'PROMPT-7f3a-lighthouse',
  title: 'TITLE-91bd-harbour',
  account: 'ACCOUNT-44e0-anchor',
  idempotency: 'IDEMPOTENCY-c2d8-buoy',
  header: 'HEADER-5a6b-tide',
  query: 'QUERY-e19c-current',
  path: 'PATH-08f7-reef',
  body: 'BODY-b3a2-wreck',
  token: 'TOKEN-d64e-compass',
  garbage: 'GARBAGE-1c5f-storm',
};

describe('The log', () => {
  it('is JSON, has the trace ID of every response, and contains neither keys nor text from callers', async () => {
    const folder = temporaryFolder();
    const operator = { skein: (...words: string[]) => operate(folder, words) };
    const { key } = await hire(operator, await makeOrganization(operator, 'Acme'), 'ada@acme.example');
    const service = await Service.start({
      folder,
      environment: { SKEIN_LOG_LEVEL: 'trace', SKEIN_MODEL: 'scripted' },
    });
    const traceIds = [...(await sendRequests(service, key)), ...(await sendGarbage(service, key))];
    assert.equal(await service.end(), 0);

    const log = service.output.join('\n');
    const lines = service.output.map((line) => JSON.parse(line));
    for (const { level, time, msg } of lines) {
      assert.equal(typeof level, 'number');
      assert.match(time, /^\d{4}-\d\d-\d\dT.*Z$/);
      assert.equal(typeof msg, 'string');
    }
    const logged = new Set(lines.map(({ trace_id }) => trace_id));
    assert.ok(traceIds.length >= 12);
    for (const traceId of traceIds) assert.ok(logged.has(traceId), `no line speaks of ${traceId}`);
    for (const text of [key, key.slice(4), ...Object.values(secret)]) {
      assert.ok(!log.includes(text), `the log holds ${text}`);
    }
  });
});

const script = findProgram('script');

describe('The log on a terminal', { skip: script === undefined && 'needs script, of util-linux' }, () => {
  it('is plain text, and the greeting is unchanged', async () => {
    const terminal = spawn(script as string, ['-qfec', `${launcher} serve`, '/dev/null'], {
      cwd: temporaryFolder(),
      env: cleanEnvironment({ SKEIN_PORT: '0', NO_COLOR: '1' }),
    });
    const lines: string[] = [];
    for await (const line of createInterface({ input: terminal.stdout })) {
      lines.push(line);
      if (line.includes(' ready role=')) break;
    }
    // The terminal hangs up, which ends the service.
    terminal.kill('SIGKILL');
    assert.match(
      lines.at(-1) ?? '',
      /^\d\d:\d\d:\d\d ready role=all address=http:\S+ store=sqlite model=extractive$/,
    );
    assert.ok(lines.some((line) => line.startsWith('Skein is ready with a demo organization')));
    assert.ok(!lines.some((line) => line.includes('{"level"') || line.includes('\u001b[')), lines.join('\n'));
  });
});

/** Sends valid and invalid requests with private data in every part. Returns their trace IDs. */
async function sendRequests({ baseUrl }: Service, key: string): Promise<string[]> {
  const api = new Api(baseUrl, key);
  const made = await api.create(
    { prompt: secret.prompt, title: secret.title, accountId: secret.account },
    {
      'idempotency-key': secret.idempotency,
      cookie: `session=${secret.header}`,
      referer: `http://x/?k=${key}`,
    },
  );
  assert.equal(made.status, 201);
  const { id } = made.body.thread;
  const done = await api.untilDone(id);
  assert.ok(done.messages[1].content.includes(secret.prompt), 'the reply repeats the prompt');
  const answers = [
    made,
    await api.rename(id, `${secret.title} again`),
    await api.list({ accountId: secret.account, [secret.query]: key }),
    await api.list({ cursor: secret.query }),
    await api.get(secret.path),
    await api.get(key),
    await api.create({ prompt: [secret.prompt] }),
    await api.call('PATCH', `/threads/${id}`, { body: { [secret.body]: secret.body } }),
    await api.call('POST', '/threads', {
      raw: `{"prompt": "${secret.body}"`,
      headers: { 'x-private': secret.header },
    }),
    await api.call('POST', '/threads', {
      raw: secret.body,
      headers: { 'content-type': `text/${secret.header}` },
    }),
    await api.create({ prompt: secret.prompt }, { 'idempotency-key': secret.idempotency }),
    await new Api(baseUrl, secret.token).list(),
    await new Api(baseUrl, `${key}x`).list(),
    await api.delete(id),
  ];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 200, 200, 400, 404, 404, 400, 400, 400, 400, 400, 401, 401, 200],
  );
  return answers.map(({ headers }) => headers.get('x-request-id') as string);
}

/** Bytes that are rejected before they are parsed as a request. */
async function sendGarbage(service: Service, key: string): Promise<string[]> {
  const traceIds = [];
  for (const bytes of [
    `${secret.garbage}\r\n\r\n`,
    `GET /${secret.path} HTTP/1.1\r\nHost: x\r\nno colon ${secret.header} ${key}\r\n\r\n`,
    `GET /?${secret.query} HTTP/1.1\r\nX: ${secret.header.repeat(2000)}\r\n\r\n`,
  ]) {
    const connection = await RawConnection.open(service);
    connection.send(bytes);
    const answer = await connection.answer();
    assert.equal(answer.status, 400);
    traceIds.push(answer.headers.get('x-request-id') as string);
    connection.close();
  }
  return traceIds;
}
