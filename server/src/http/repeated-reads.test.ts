import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { by, note } from '../../testing/contract/fixture.ts';
import { composeApp, openContext, openLog } from '../compose.ts';
import { readConfig } from '../config/config.ts';
import type { OrganizationId, UserId } from '../domain/id.ts';
import type { Store } from '../storage/store.ts';
import { createApiKey, revokeApiKey } from '../usecases/credentials/api-keys.ts';
import { createApplication } from '../usecases/credentials/applications.ts';
import { operatorInitiator } from '../usecases/organization/audit-log.ts';
import { changeOrganization, createOrganization } from '../usecases/organization/organization.ts';
import { addMember } from '../usecases/people/members.ts';
import type { SurfaceContext } from '../usecases/surface-context.ts';

/** A connection that reads responses in order. */
class Client {
  readonly socket: Socket;
  #received = '';
  isEnded = false;

  constructor(port: number, isTls: boolean) {
    const options = { port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true };
    this.socket = isTls ? connectTls({ ...options, rejectUnauthorized: false }) : connect(options);
    this.socket.setEncoding('latin1').on('data', (text: string) => {
      this.#received += text;
    });
    this.socket.on('end', () => {
      this.isEnded = true;
    });
  }

  send(bytes: string): void {
    this.socket.write(bytes, 'latin1');
  }

  /** The next response: headers and body. */
  async response(): Promise<string> {
    for (;;) {
      const end = this.#received.indexOf('\r\n\r\n') + 4;
      const [, length = '0'] = /content-length: (\d+)/i.exec(this.#received.slice(0, end)) ?? [];
      const total = end + Number(length);
      if (end > 4 && this.#received.length >= total) {
        const response = this.#received.slice(0, total);
        this.#received = this.#received.slice(total);
        return response;
      }
      assert.ok(!this.isEnded, `the connection ended after ${this.#received}`);
      await nextTurn();
    }
  }

  async exchange(bytes: string): Promise<string> {
    this.send(bytes);
    return this.response();
  }

  /** For a response in chunks, to the only request. Returns nothing. */
  async chunkedExchange(bytes: string): Promise<void> {
    this.send(bytes);
    while (!this.#received.endsWith('\r\n0\r\n\r\n')) {
      assert.ok(!this.isEnded, 'the connection is open');
      await nextTurn();
    }
    this.#received = '';
  }
}

const log = await openLog('silent');
const statusOf = (response: string) => response.slice(9, 12);
const remaining = (response: string) => Number(/;r=(\d+);/.exec(response)![1]);

for (const scheme of ['http', 'https'])
  describe(`A read that repeats an earlier one byte for byte, over ${scheme}`, () => {
    const isTls = scheme === 'https';
    const standIns = join(import.meta.dirname, '../../../tests/stand-ins');
    const folder = mkdtempSync(join(tmpdir(), 'skein-repeated-'));
    const config = readConfig({
      SKEIN_DATABASE_URL: `sqlite:${join(folder, 'skein.db')}`,
      SKEIN_MODEL: 'scripted',
      ...(isTls && {
        SKEIN_TLS_CERT: join(standIns, 'localhost-certificate.pem'),
        SKEIN_TLS_KEY: join(standIns, 'localhost-key.pem'),
      }),
    });
    let context: SurfaceContext;
    let store: Store;
    let app: FastifyInstance;
    let client: Client;
    /** How many requests reached the HTTP parser. */
    let parsed = 0;
    let organizationId: OrganizationId;
    let key: string;
    let keyId: string;
    let userId: UserId;
    let threadId: string;

    const initiator = () => operatorInitiator(context);
    const open = () => new Client((app.server.address() as AddressInfo).port, isTls);
    const head = (line: string, ...lines: string[]) =>
      [`${line} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${key}`, ...lines, '', ''].join('\r\n');
    const getThread = (...lines: string[]) => head(`GET /api/v1/threads/${threadId}`, ...lines);
    const post = (body: string) =>
      head('POST /api/v1/threads', 'Content-Type: application/json', `Content-Length: ${body.length}`) + body;

    before(async () => {
      const baseUrl = () => 'http://skein.example';
      context = await openContext(config, { baseUrl });
      store = context.store as unknown as Store;
      app = await composeApp(config, context, log);
      for (const event of ['request', 'checkContinue'])
        app.server.prependListener(event, () => {
          parsed += 1;
        });
      await app.listen({ host: '127.0.0.1', port: 0 });
      organizationId = await createOrganization(context, initiator(), { name: 'Acme', apiEnabled: true });
      const change = { context, organizationId, initiator: initiator() };
      ({ userId } = await addMember(change, { email: 'ada@acme.example', role: 'member' }));
      ({ id: keyId, key } = await createApiKey(change, { userId, name: 'Key' }));
    });
    after(async () => {
      await app.close();
      await context.close();
      rmSync(folder, { recursive: true, force: true });
    });
    beforeEach(async () => {
      client = open();
      const created = await client.exchange(post('{"prompt":"\\u201cHello\\u201d"}'));
      threadId = /"id":"(thr_\w+)"/.exec(created)![1]!;
    });

    /** Sends a read until it is recognized, and returns the last response to a parsed one. */
    async function repeat(read: string): Promise<string> {
      // The first one only shows where a request begins.
      for (let count = 0; count < 2; count += 1) await client.exchange(read);
      const response = await client.exchange(read);
      assert.equal(await parsedBy(() => client.exchange(read)), 0, 'it is recognized');
      return response;
    }

    async function parsedBy(act: () => Promise<unknown>): Promise<number> {
      const start = parsed;
      await act();
      return parsed - start;
    }

    const reads: Record<string, (etag: string) => string> = {
      'a thread': () => getThread(),
      'a thread that has not changed': (etag) => getThread(`If-None-Match: ${etag}`),
      'a list': () => head('GET /api/v1/threads?limit=2'),
      'a large list': () => head('GET /api/v1/threads?limit=100'),
    };
    for (const [name, read] of Object.entries(reads))
      it(`gets the same response without being parsed: ${name}`, async () => {
        for (let count = 0; count < 10; count += 1)
          await client.exchange(post(`{"prompt":"${'long '.repeat(50)}"}`));
        const [, etag = ''] = /etag: (.*)\r\n/.exec(await client.exchange(getThread())) ?? [];
        const bytes = read(etag);
        const first = await repeat(bytes);
        const again = await client.exchange(bytes);
        assert.equal(remaining(again), remaining(first) - 2, 'each is counted');
        const comparable = (response: string) =>
          response
            .replace(/(x-request-id|date): .*/gi, '$1')
            .replace(/;r=\d+;t=\d+/, '')
            .replace(/"nextCursor":"[^"]+"/, '');
        assert.equal(comparable(again), comparable(first));
        const [, traceId = ''] = /x-request-id: (.*)\r\n/.exec(again) ?? [];
        await context.recorder.flush(store);
        const logged = await store.findRequest(organizationId, traceId);
        assert.deepEqual([logged?.credentialId, logged?.status], [keyId, Number(statusOf(again))]);
      });

    it('is recognized from the third time, so that reads that are never repeated take no memory', async () => {
      await client.exchange(getThread());
      const list = head(`GET /api/v1/threads?accountId=${threadId}`);
      const counts = [];
      for (let count = 0; count < 4; count += 1) counts.push(await parsedBy(() => client.exchange(list)));
      assert.deepEqual(counts, [1, 1, 0, 0]);
    });

    it('is recognized on other connections, after their first request', async () => {
      await repeat(getThread());
      client = open();
      assert.equal(await parsedBy(() => client.exchange(getThread())), 1);
      assert.equal(await parsedBy(() => client.exchange(getThread())), 0);
    });

    it('shows what has changed since', async () => {
      await repeat(getThread());
      const body = '{"title":"New"}';
      const rename = head(
        `PATCH /api/v1/threads/${threadId}`,
        'Content-Type: application/json',
        'Content-Length: 15',
      );
      assert.equal(statusOf(await client.exchange(rename + body)), '200');
      assert.match(await client.exchange(getThread()), /"title":"New"/);
    });

    it('is parsed if it asks for more than a response', async () => {
      const singular = [
        getThread('Prefer: wait=0'),
        getThread('Expect: 100-continue'),
        getThread('Upgrade: h2c'),
        getThread('Connection: close'),
        getThread('Content-Length: 0'),
        getThread('Connection: keep-alive').replace('HTTP/1.1', 'HTTP/1.0'),
        getThread(`X-Long: ${'x'.repeat(1000)}`),
      ];
      for (const read of singular)
        for (let count = 0; count < 4; count += 1) {
          const one = open();
          await one.exchange(getThread());
          assert.equal(await parsedBy(() => one.exchange(read)), 1, read);
          one.socket.destroy();
        }
    });

    it('gets the usual error, once the thread is deleted', async () => {
      await repeat(getThread());
      let left = remaining(await client.exchange(head(`DELETE /api/v1/threads/${threadId}`)));
      for (let count = 0; count < 3; count += 1) {
        const response = await client.exchange(getThread());
        assert.equal(statusOf(response), '404');
        left -= 1;
        assert.equal(remaining(response), left, 'it is counted once');
        assert.match(response, /cache-control: no-store.*"code":"NOT_FOUND"/s);
      }
    });

    it('counts once against the quota, whether it is granted or not', async () => {
      const change = { context, organizationId, initiator: initiator() };
      const [, limit] = /;q=(\d+)/.exec(await repeat(getThread()))!;
      const [, left] = /;r=(\d+)/.exec(await client.exchange(getThread()))!;
      await changeOrganization(change, { dailyQuota: Number(limit) - Number(left) + 2 });
      const statuses = [];
      for (let count = 0; count < 4; count += 1) statuses.push(statusOf(await client.exchange(getThread())));
      assert.deepEqual(statuses, ['200', '200', '429', '429']);
      await changeOrganization(change, { dailyQuota: Number(limit) });
      const [, restored] = /;r=(\d+)/.exec(await client.exchange(getThread()))!;
      assert.equal(Number(restored), Number(left) - 3);
    });

    it('counts once if it is not found after a body of many pieces', async () => {
      await repeat(getThread());
      await open().exchange(head(`DELETE /api/v1/threads/${threadId}`));
      const body = [...`{"prompt":"${'x'.repeat(1020)}"}`].map((byte) => `1\r\n${byte}\r\n`).join('');
      const lines = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
      const left = remaining(
        await client.exchange(`${head('POST /api/v1/threads', ...lines)}${body}0\r\n\r\n`),
      );
      const response = await client.exchange(getThread());
      assert.equal(statusOf(response), '404');
      assert.equal(remaining(response), left - 1);
    });

    it('is not kept if the thread is large, which would then be read twice', async () => {
      const created = await client.exchange(post(`{"prompt":"${'\\u20ac'.repeat(90_000)}"}`));
      const read = head(`GET /api/v1/threads/${/"id":"(thr_\w+)"/.exec(created)![1]}`);
      const { getThread } = store;
      let loaded = 0;
      store.getThread = (...values) => {
        loaded += 1;
        return getThread(...values);
      };
      for (let count = 1; count <= 5; count += 1) {
        await client.chunkedExchange(read);
        assert.equal(loaded, count);
      }
      store.getThread = getThread;
    });

    it('is rejected as soon as its key is revoked', async () => {
      const change = { context, organizationId, initiator: initiator() };
      const { userId } = await addMember(change, { email: `${threadId}@acme.example`, role: 'member' });
      const other = await createApiKey(change, { userId, name: 'Other' });
      const read = head('GET /api/v1/threads').replace(key, other.key);
      await repeat(read);
      await revokeApiKey(change, other.id);
      const response = await client.exchange(read);
      assert.equal(statusOf(response), '401');
      assert.match(response, /www-authenticate: Bearer/i);
    });

    it('is rejected once its access token has expired', async () => {
      const change = { context, organizationId, initiator: initiator() };
      const { id } = await createApplication(change, 'App');
      const grant = await store.findApplicationGrant(id as never);
      const token = await context.accessTokens.issue({ applicationId: id as never, ...grant! });
      const read = head('GET /api/v1/threads').replace(key, token);
      await repeat(read);
      const { accessTokens } = context;
      Object.assign(context, { accessTokens: { ...accessTokens, read: async () => undefined } });
      assert.equal(statusOf(await client.exchange(read)), '401');
      Object.assign(context, { accessTokens });
      assert.equal(statusOf(await client.exchange(read)), '200');
    });

    describe('while it is being answered', () => {
      let release: () => void;
      let isAdmitting: Promise<void>;
      let accepted: Socket;
      beforeEach(async () => {
        client.socket.destroy();
        app.server.once(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
          accepted = socket;
        });
        client = open();
        await repeat(getThread());
        const { admitKey } = store;
        const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        isAdmitting = started.promise;
        release = gate.resolve;
        store.admitKey = async (...values) => {
          started.resolve();
          await gate.promise;
          store.admitKey = admitKey;
          return admitKey(...values);
        };
      });

      async function received(bytes: number): Promise<void> {
        while (accepted.bytesRead < bytes) await nextTurn();
      }

      it('delays requests that arrive meanwhile', async () => {
        const list = head('GET /api/v1/threads');
        const bytes = accepted.bytesRead + 2 * getThread().length + list.length;
        client.send(getThread());
        await isAdmitting;
        client.send(list + getThread());
        await received(bytes);
        assert.equal(await parsedBy(nextTurn), 0);
        release();
        assert.match(await client.response(), /"thread":/);
        assert.match(await client.response(), /"threads":/);
        assert.match(await client.response(), /"thread":/);
        assert.equal(statusOf(await client.exchange(getThread())), '200');
      });

      it('delays them even if it has to be parsed after all', async () => {
        await store.deleteThread(
          organizationId,
          threadId as never,
          by(userId),
          note('thread.deleted', userId),
        );
        client.send(getThread());
        await isAdmitting;
        client.send(head('GET /api/v1/threads'));
        await received(accepted.bytesRead);
        release();
        assert.equal(statusOf(await client.response()), '404');
        assert.equal(statusOf(await client.response()), '200');
      });

      // Over TLS, Node closes both sides.
      if (!isTls)
        it('sends the response to a client that has closed its side', async () => {
          const start = parsed;
          client.socket.end(getThread(), 'latin1');
          await isAdmitting;
          while (!accepted.readableEnded) await nextTurn();
          release();
          assert.equal(statusOf(await client.response()), '200');
          while (!client.isEnded) await nextTurn();
          assert.equal(parsed, start);
        });

      it('sends the response, which closes the connection, before the service stops', async () => {
        const other = await composeApp(config, context, log);
        await other.listen({ host: '127.0.0.1', port: 0 });
        client = new Client((other.server.address() as AddressInfo).port, isTls);
        release();
        for (let count = 0; count < 3; count += 1) await client.exchange(getThread());
        const { admitKey } = store;
        const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        store.admitKey = async (...values) => {
          started.resolve();
          await gate.promise;
          return admitKey(...values);
        };
        client.send(getThread());
        await started.promise;
        store.admitKey = admitKey;
        const closed = other.close();
        await nextTurn();
        gate.resolve();
        assert.match(await client.response(), /^HTTP\/1.1 200 OK\r\nconnection: close\r\n/);
        while (!client.isEnded) await nextTurn();
        await closed;
      });
    });

    describe('while its response waits to be sent', () => {
      let service: FastifyInstance;
      let accepted: Socket;
      let read: string;
      let admitKey: Store['admitKey'];
      let admissions: number;
      beforeEach(async () => {
        // More than Node takes before it stops reading.
        const created = await client.exchange(post(`{"prompt":"${'long '.repeat(16_000)}"}`));
        client.socket.destroy();
        read = head(`GET /api/v1/threads/${/"id":"(thr_\w+)"/.exec(created)![1]}`);
        service = await composeApp(config, context, log);
        service.server.once(isTls ? 'secureConnection' : 'connection', (socket: Socket) => {
          accepted = socket;
        });
        await service.listen({ host: '127.0.0.1', port: 0 });
        client = new Client((service.server.address() as AddressInfo).port, isTls);
        for (let count = 0; count < 3; count += 1) await client.exchange(read);
        // As if the client did not read.
        accepted.cork();
        client.send(read);
        while (accepted.writableLength === 0) await nextTurn();
        ({ admitKey } = store);
        admissions = 0;
        store.admitKey = (...values) => {
          admissions += 1;
          return admitKey(...values);
        };
      });
      afterEach(async () => {
        store.admitKey = admitKey;
        client.socket.destroy();
        await service.close();
      });

      async function sendMore(bytes: string): Promise<void> {
        client.send(bytes);
        for (let turns = 0; turns < 50; turns += 1) await nextTurn();
      }

      it('delays requests that arrive meanwhile, so that a client that does not read gets one response', async () => {
        const list = head('GET /api/v1/threads?limit=1');
        await sendMore(list.repeat(2));
        await sendMore(list);
        await sendMore(read);
        assert.equal(admissions, 0);
        accepted.uncork();
        assert.match(await client.response(), /"thread":/);
        for (let count = 0; count < 3; count += 1) assert.match(await client.response(), /"threads":/);
        assert.match(await client.response(), /"thread":/);
      });

      it('gives the client as long to read as after a parsed request', async () => {
        assert.equal(accepted.timeout, service.server.timeout);
        accepted.uncork();
        assert.match(await client.response(), /"thread":/);
        assert.notEqual(accepted.timeout, service.server.timeout);
        assert.equal(statusOf(await client.exchange(read)), '200');
      });

      it('sends the whole response before the service stops', async () => {
        const closed = service.close();
        for (let turns = 0; turns < 50; turns += 1) await nextTurn();
        accepted.uncork();
        assert.match(await client.response(), /"thread":.*}$/s);
        while (!client.isEnded) await nextTurn();
        client.socket.destroy();
        await closed;
      });
    });

    describe('is parsed as a part of what was sent before', () => {
      beforeEach(() => repeat(getThread()));
      const partial = 'GET /api/v1/threads HTTP/1.1\r\nX: ';
      const list = /"threads":/;

      it('as headers', async () => {
        client.send(partial);
        for (let turns = 0; turns < 20; turns += 1) await nextTurn();
        assert.match(await client.exchange(getThread()), list);
        assert.doesNotMatch(await client.exchange(getThread()), list);
      });

      it('as headers that began together with an earlier request', async () => {
        assert.doesNotMatch(await client.exchange(getThread() + partial), list);
        assert.match(await client.exchange(getThread()), list);
        assert.doesNotMatch(await client.exchange(getThread()), list);
      });

      it('as a body that arrives after the response', async () => {
        const put = head('PUT /nowhere', `Content-Length: ${getThread().length}`);
        assert.equal(statusOf(await client.exchange(put)), '404');
        client.send(getThread());
        for (let turns = 0; turns < 20; turns += 1) await nextTurn();
        assert.match(await client.exchange(head('GET /api/v1/threads')), list);
      });

      it('as one of two requests that arrive together, however often they do', async () => {
        for (let count = 0; count < 5; count += 1) {
          client.send(getThread() + head('GET /api/v1/threads'));
          assert.doesNotMatch(await client.response(), list);
          assert.match(await client.response(), list);
        }
      });
    });
  });
