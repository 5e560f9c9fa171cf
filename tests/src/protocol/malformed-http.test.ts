import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Api } from '../../harness/http/api.ts';
import { assertEnvelope, RawConnection, type RawResponse } from '../../harness/http/raw-http.ts';
import { readMetricsUrl } from '../../harness/http/scrape.ts';
import type { Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { makeMember, makeOrganization } from '../../harness/world/tenants.ts';

const requestTimeoutMs = 1500;

describe('Malformed HTTP', () => {
  let service: Service;
  let key: string;
  let api: Api;
  before(async () => {
    service = await startWithoutDemo({
      SKEIN_REQUEST_TIMEOUT_MS: String(requestTimeoutMs),
      SKEIN_METRICS_PORT: '0',
    });
    ({ key, api } = await makeMember(service, await makeOrganization(service, 'Acme'), 'ada@acme.example'));
  });
  after(() => service?.end());

  /** A request as text; `lines` come after Host and Authorization. */
  const request = (target: string, lines: string[] = [], body = '') =>
    [
      `${target} HTTP/1.1`,
      'Host: skein.test',
      `Authorization: Bearer ${key}`,
      ...lines,
      ...(body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
      '',
      body,
    ].join('\r\n');
  const create = (body: string, ...lines: string[]) =>
    request('POST /api/v1/threads', ['Content-Type: application/json', ...lines], body);
  const list = () => request('GET /api/v1/threads?limit=1');

  /** Sends the bytes at once. Returns the requested number of responses, and whether the service then closes. */
  async function exchange(bytes: string, methods = ['GET']): Promise<RawResponse[]> {
    const connection = await RawConnection.open(service);
    try {
      connection.send(bytes);
      const answers = [];
      for (const method of methods) answers.push(await connection.answer(method));
      return answers;
    } finally {
      connection.close();
    }
  }

  async function refused(bytes: string, status: number, message: RegExp): Promise<void> {
    const [answer] = (await exchange(bytes)) as [RawResponse];
    assert.equal(answer.status, status, answer.body);
    assert.match(assertEnvelope(answer), message);
  }

  /** Runs `act` and fails if it left a thread behind. */
  async function makesNothing(act: () => Promise<void>): Promise<void> {
    const before = (await api.walk()).length;
    await act();
    assert.equal((await api.walk()).length, before);
  }

  it('returns NOT_FOUND for a path with invalid percent-encoding, as for a missing thread', async () => {
    for (const id of ['%', '%zz', '%c0%af', '%ff', '%ED%A0%80', '%00'])
      await refused(request(`GET /api/v1/threads/${id}`), 404, /No such thread/);
  });

  it('checks the credential before the encoding of a path', async () => {
    await refused('GET /api/v1/threads/%zz HTTP/1.1\r\nHost: x\r\n\r\n', 401, /credential/);
  });

  it('rejects a query parameter with invalid percent-encoding by name', async () => {
    for (const value of ['%', '%zz', '%c0%80'])
      await refused(request(`GET /api/v1/threads?cursor=${value}`), 400, /cursor/);
  });

  it('rejects a body with another content type or none', async () => {
    const body = '{"prompt":"x"}';
    await makesNothing(async () => {
      for (const type of [
        'text/plain',
        'application/jsonx',
        'application/json; charset=latin1',
        'garbage',
        '',
      ]) {
        await refused(request('POST /api/v1/threads', [`Content-Type: ${type}`], body), 400, /Content-Type/);
      }
      await refused(request('POST /api/v1/threads', [], body), 400, /Content-Type/);
    });
  });

  it('keeps the connection after it rejects a body that has arrived, and responds to the next request', async () => {
    const json = ['Content-Type: application/json'];
    const chunked = ['Transfer-Encoding: chunked', '', '8', '{"a":1,}', '0', '', ''].join('\r\n');
    const rejected = [
      create('{"prompt":'),
      create('{"prompt":"x","prompt":"y"}'),
      create('{"prompt":"x"}').replace('"x"', '"\xff"'),
      create('{}'),
      create('{"prompt":"x"}', 'Content-Encoding: gzip'),
      request('POST /api/v1/threads', ['Content-Type: text/plain'], '{"prompt":"x"}'),
      request('POST /api/v1/threads', ['Content-Type: garbage'], '{"prompt":"x"}'),
      request('POST /api/v1/threads', [`Content-Type: application/json;${' '.repeat(15_000)}x`], '{}'),
      request('POST /api/v1/threads', json).replace(/\r\n\r\n$/, `\r\n${chunked}`),
      create(JSON.stringify({ prompt: 'x'.repeat(500_000), a: '\x01' }).replace('\\u0001', '\x01')),
    ];
    await makesNothing(async () => {
      for (const bytes of rejected) {
        const connection = await RawConnection.open(service);
        connection.send(bytes + list());
        const answer = await connection.answer();
        assert.equal(answer.status, 400, bytes.slice(0, 300));
        assert.equal(answer.headers.get('connection'), 'keep-alive', bytes.slice(0, 300));
        assert.equal((await connection.answer()).status, 200);
        connection.close();
      }
    });
  });

  it('closes the connection after it rejects a body that has not arrived', async () => {
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(17);
    const head = request('POST /api/v1/threads', [
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ]);
    const tooLarge = request('POST /oauth2/token', [
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 20000',
    ]);
    for (const bytes of [head + chunk, tooLarge]) {
      const connection = await RawConnection.open(service);
      connection.send(bytes);
      const answer = await connection.answer();
      assert.equal(answer.status, 400);
      assert.equal(answer.headers.get('connection'), 'close');
      connection.close();
    }
  });

  it('rejects a body whose Content-Length is too large, before and while it arrives', async () => {
    const tooLarge = `Content-Length: ${1024 * 1024 + 1}`;
    const head = request('POST /api/v1/threads', ['Content-Type: application/json', tooLarge]);
    await refused(head, 400, /must be at most 1,048,576 bytes/);
    for (const size of [1024 * 1024 + 1, 16 * 1024 * 1024])
      await refused(create('x'.repeat(size)), 400, /must be at most 1,048,576 bytes/);
  });

  it('rejects a chunked body once it is too large', async () => {
    const head = request('POST /api/v1/threads', [
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ]);
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    await refused(head + chunk.repeat(17), 400, /must be at most 1,048,576 bytes/);
  });

  it('rejects headers that are too large with the error envelope, even if the client keeps sending', async () => {
    for (const size of [17_000, 5_000_000])
      await refused(request('GET /api/v1/threads', [`X: ${'h'.repeat(size)}`]), 400, /headers are too large/);
    const withHeaders = (count: number) => request('GET /api/v1/threads', Array(count - 2).fill('a: b'));
    assert.equal((await exchange(withHeaders(100)))[0]?.status, 200);
    await refused(withHeaders(101), 400, /and 100 headers/);
    await refused(request(`GET /api/v1/threads/${'a'.repeat(17_000)}`), 400, /headers are too large/);
  });

  it('rejects an unknown HTTP method, and returns NOT_FOUND for a known one that the path does not support', async () => {
    for (const method of ['FOO', 'get', 'G@T', ''])
      await refused(request(`${method} /api/v1/threads`), 400, /HTTP/);
    for (const method of ['PUT', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'])
      await refused(request(`${method} /api/v1/threads`), 404, /./);
  });

  it('rejects CONNECT and closes the connection', async () => {
    const connection = await RawConnection.open(service);
    connection.send('CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n');
    const answer = await connection.answer();
    assert.equal(answer.status, 400);
    assertEnvelope(answer);
    assert.equal(await connection.ended(), '');
    connection.close();
  });

  it('survives a reset after CONNECT, even on the metrics port', async () => {
    for (const baseUrl of [service.baseUrl, readMetricsUrl(service) as string]) {
      for (let round = 0; round < 20; round += 1) {
        const connection = await RawConnection.open({ baseUrl });
        connection.send('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
        // Before, during and after the rejection is written.
        if (round % 2 === 1) await connection.answer();
        else await new Promise((resolve) => setImmediate(resolve));
        connection.reset();
      }
      assert.ok((await fetch(baseUrl)).status < 500);
    }
  });

  it('rejects HTTP/1.1 without Host or with two, and accepts HTTP/1.0 without', async () => {
    const lines = `Authorization: Bearer ${key}\r\n\r\n`;
    await refused(`GET /api/v1/threads HTTP/1.1\r\n${lines}`, 400, /Host/);
    await refused(`GET /api/v1/threads HTTP/1.1\r\nHost: a\r\nHost: b\r\n${lines}`, 400, /Host/);
    const [old] = (await exchange(`GET /api/v1/threads HTTP/1.0\r\n${lines}`)) as [RawResponse];
    assert.equal(old.status, 200);
  });

  it('rejects other versions of HTTP', async () => {
    const lines = `Host: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    await refused(`GET /api/v1/threads HTTP/2.0\r\n${lines}`, 400, /version/);
    await refused(`GET /api/v1/threads HTTP/0.9\r\n${lines}`, 400, /version/);
    await refused('GET /api/v1/threads\r\n\r\n', 400, /version/);
  });

  it('rejects two credentials, even if both are right', async () => {
    const again = `Authorization: Bearer ${key}`;
    await refused(request('GET /api/v1/threads', [again]), 401, /credential/);
  });

  it('rejects two content types, even if both are JSON', async () => {
    await makesNothing(() =>
      refused(create('{"prompt":"x"}', 'Content-Type: application/json'), 400, /Content-Type/),
    );
  });

  it('continues after Expect: 100-continue, and rejects any other expectation', async () => {
    const [made] = (await exchange(create('{"prompt":"x"}', 'Expect: 100-continue'))) as [RawResponse];
    assert.equal(made.status, 201);
    await makesNothing(() => refused(create('{"prompt":"x"}', 'Expect: miracles'), 400, /Expect/));
  });

  it('sends 100 Continue only after the caller is admitted', async () => {
    const body = '{"prompt":"x"}';
    const head = create(body, 'Expect: 100-continue').slice(0, -body.length);
    const connection = await RawConnection.open(service);
    connection.send(head);
    await connection.somethingReceived(30_000);
    connection.send(body);
    assert.equal((await connection.answer('POST')).status, 201);
    connection.close();
    const stranger = await RawConnection.open(service);
    stranger.send(head.replace(key, 'eak_unknown'));
    assert.match(await stranger.ended(), /^HTTP\/1\.1 401 /);
    stranger.close();
    const oversized = await RawConnection.open(service);
    oversized.send(head.replace(/Content-Length: \d+/i, 'Content-Length: 2000000'));
    assert.match(await oversized.ended(), /^HTTP\/1\.1 400 /);
    oversized.close();
  });

  it('responds to bytes that are not HTTP, and closes the connection', async () => {
    for (const garbage of [
      'garbage\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01',
      '\0\0\0\0',
      'GET / HTTP/9.9\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'GET /\n\n',
      'SSH-2.0-x\r\n',
    ]) {
      await refused(garbage, 400, /HTTP/);
    }
  });

  it('responds to a request that is cut off in its headers or body', async () => {
    const whole = create('{"prompt":"x"}');
    await makesNothing(async () => {
      for (const bytes of ['GE', whole.slice(0, 60), whole.slice(0, -1)]) {
        const connection = await RawConnection.open(service);
        connection.send(bytes);
        connection.finish();
        const answer = await connection.answer();
        assert.equal(answer.status, 400, bytes);
        assertEnvelope(answer);
        connection.close();
      }
    });
  });

  it('responds to a client that half-closes after its request', async () => {
    const connection = await RawConnection.open(service);
    connection.send(create('{"prompt":"x"}'));
    connection.finish();
    assert.equal((await connection.answer()).status, 201);
    connection.close();
  });

  it('rejects every request with an ambiguous end (request smuggling), and reads nothing after it', async () => {
    const hidden = create('{"prompt":"smuggled"}');
    const ambiguous = [
      ['Content-Length: 4', 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: chunked', 'Content-Length: 4'],
      ['Content-Length: 4', 'Content-Length: 5'],
      ['Content-Length: +4'],
      ['Content-Length: 4, 4'],
      ['Transfer-Encoding: xchunked'],
      ['Transfer-Encoding: chunked, identity'],
      ['Transfer-Encoding: gzip, chunked'],
      ['Transfer-Encoding : chunked'],
      ['Transfer-Encoding:\x0bchunked'],
      ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
      ['Content-Length: 4\rX: y'],
    ];
    const heads = ambiguous.map((lines) =>
      request('POST /api/v1/threads', ['Content-Type: application/json', ...lines]),
    );
    // HTTP/1.0 has no transfer codings: a proxy of that version would read the chunks as the next request.
    const chunked = ['Connection: keep-alive', 'Transfer-Encoding: chunked'];
    heads.push(request('POST /api/v1/threads', chunked).replace('HTTP/1.1', 'HTTP/1.0'));
    await makesNothing(async () => {
      for (const head of heads) {
        const connection = await RawConnection.open(service);
        connection.send(`${head}0\r\n\r\n${hidden}`);
        const answer = await connection.answer();
        assert.equal(answer.status, 400, head);
        assertEnvelope(answer);
        assert.equal(answer.headers.get('connection'), 'close', head);
        assert.equal(await connection.ended(), '', head);
        connection.close();
      }
    });
  });

  it('takes no field from a key that addresses an object prototype', async () => {
    for (const body of ['{"__proto__":{"prompt":"x"}}', '{"constructor":{"prototype":{"prompt":"x"}}}'])
      await makesNothing(() => refused(create(body), 400, /prompt/));
    await refused(create('{}'), 400, /prompt/);
  });

  it('accepts shallow JSON and rejects deep nesting, at any depth', async () => {
    const nested = (depth: number) => `{"prompt":"x","deep":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    const [modest] = (await exchange(create(nested(8)))) as [RawResponse];
    assert.equal(modest.status, 201);
    await makesNothing(async () => {
      for (const depth of [64, 5000, 400_000]) await refused(create(nested(depth)), 400, /JSON|deep/);
    });
  });

  it('matches each response to its request when a later request on the connection is malformed', async () => {
    for (const bad of [
      'garbage\r\n\r\n',
      'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
      request('GET /api/v1/threads', ['Expect: miracles']),
    ]) {
      const [made, refusal] = (await exchange(create('{"prompt":"x"}') + bad, ['POST', 'GET'])) as [
        RawResponse,
        RawResponse,
      ];
      assert.equal(made.status, 201, made.body);
      assert.equal(refusal.status, 400);
      assertEnvelope(refusal);
      assert.equal(refusal.headers.get('connection'), 'close');
    }
  });

  it('responds at once to a request with a Content-Type but no body', async () => {
    for (const target of ['POST /api/v1/threads', 'POST /oauth2/token']) {
      for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
        const [answer] = (await exchange(request(target, [`Content-Type: ${type}`]))) as [RawResponse];
        assert.equal(answer.status, 400, `${target} ${type}: ${answer.body}`);
      }
    }
  });

  it('parses bytes beyond Content-Length as a new request', async () => {
    const [made, refusal] = (await exchange(`${create('{"prompt":"x"}')}}}}}\r\n\r\n`, ['POST', 'GET'])) as [
      RawResponse,
      RawResponse,
    ];
    assert.equal(made.status, 201, made.body);
    assert.equal(refusal.status, 400);
    assertEnvelope(refusal);
  });

  it('responds to requests pipelined after a rejected one, in order', async () => {
    const refusals = [
      create('{"prompt":5}'),
      request('PUT /api/v1/threads', [], '{{{{'),
      request('DELETE /api/v1/threads/x'),
      request('GET /api/v1/threads?limit=0'),
    ];
    const answers = await exchange(
      [list(), ...refusals, list()].join(''),
      Array(refusals.length + 2).fill('GET'),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400, 404, 404, 400, 200],
    );
  });

  it('ignores an Upgrade, and responds to every request that follows it', async () => {
    for (const lines of [
      ['Connection: Upgrade', 'Upgrade: websocket'],
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'],
    ]) {
      const connection = await RawConnection.open(service);
      connection.send(request('GET /api/v1/threads?limit=1', lines) + list());
      for (let answered = 0; answered < 2; answered += 1) {
        const answer = await connection.answer();
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.get('connection'), 'keep-alive');
      }
      connection.close();
    }
  });

  it('times out headers and bodies that trickle in, with the error envelope', async () => {
    const heads = [
      'GET /api/v1/threads HTTP/1.1\r\nHost: x\r\nX-Slow: ',
      request('POST /api/v1/threads', ['Content-Type: application/json', 'Content-Length: 100']),
    ];
    await makesNothing(async () => {
      await Promise.all(
        heads.map(async (head) => {
          const began = Date.now();
          const connection = await RawConnection.open(service);
          connection.send(head);
          const trickle = setInterval(() => connection.send('x'), 100);
          try {
            const answer = await connection.answer();
            assert.equal(answer.status, 400);
            assert.match(assertEnvelope(answer), /Timed out/);
            assert.ok(Date.now() - began >= requestTimeoutMs);
          } finally {
            clearInterval(trickle);
            connection.close();
          }
        }),
      );
    });
  });

  it('sends no response on a connection that sent nothing, because a browser would take it for the response to its next request', async () => {
    const connection = await RawConnection.open(service);
    assert.equal(await connection.ended(), '');
  });
});
