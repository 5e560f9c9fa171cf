import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { composeSkein, openLog, openStore, type Skein } from '../src/compose.ts';
import { type Config, readConfig } from '../src/config/config.ts';
import type { OrganizationId, UserId } from '../src/domain/id.ts';
import type { Store } from '../src/storage/port/store.ts';

const log = await openLog('silent');

/** A connection that reads responses in order. */
export class Client {
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

export const readStatus = (response: string) => response.slice(9, 12);
/** How many requests are left of the quota. */
export const remaining = (response: string) => Number(/;r=(\d+);/.exec(response)![1]);

export type Scheme = 'http' | 'https';

/** A service for the tests of the enclosing suite, and a client of it with a key. Each test has its own connection and thread. */
export class HttpWorld {
  readonly isTls: boolean;
  readonly config: Config;
  skein!: Skein;
  store!: Store;
  app!: FastifyInstance;
  client!: Client;
  organizationId!: OrganizationId;
  key!: string;
  keyId!: string;
  userId!: UserId;
  threadId!: string;

  constructor(scheme: Scheme) {
    this.isTls = scheme === 'https';
    const standIns = join(import.meta.dirname, '../../tests/stand-ins');
    const folder = mkdtempSync(join(tmpdir(), 'skein-http-'));
    this.config = readConfig({
      SKEIN_DATABASE_URL: `sqlite:${join(folder, 'skein.db')}`,
      SKEIN_MODEL: 'scripted',
      ...(this.isTls && {
        SKEIN_TLS_CERT: join(standIns, 'localhost-certificate.pem'),
        SKEIN_TLS_KEY: join(standIns, 'localhost-key.pem'),
      }),
    });
    before(() => this.#start());
    after(async () => {
      await this.app.close();
      await this.skein.close();
      rmSync(folder, { recursive: true, force: true });
    });
    beforeEach(async () => {
      this.client = this.open();
      const created = await this.client.exchange(this.post('{"prompt":"\\u201cHello\\u201d"}'));
      this.threadId = /"id":"(thr_\w+)"/.exec(created)![1]!;
    });
  }

  async #start(): Promise<void> {
    this.store = await openStore(this.config);
    this.skein = await composeSkein(this.config, this.store, { baseUrl: () => 'http://skein.example' });
    const { organizations, members, keys } = this.skein.useCases;
    this.app = await this.listen();
    const organization = { name: 'Acme', apiEnabled: true };
    this.organizationId = await organizations.create(this.skein.operator(), organization);
    ({ userId: this.userId } = await members.add(this.change(), {
      email: 'ada@acme.example',
      role: 'member',
    }));
    ({ id: this.keyId, key: this.key } = await keys.create(this.change(), {
      userId: this.userId,
      name: 'Key',
    }));
  }

  /** Starts another service on the same store. */
  async listen(): Promise<FastifyInstance> {
    const app = await this.skein.composeApp(log);
    await app.listen({ host: '127.0.0.1', port: 0 });
    return app;
  }

  open(app = this.app): Client {
    return new Client((app.server.address() as AddressInfo).port, this.isTls);
  }

  /** What a use case needs to change the organization. */
  change() {
    return { organizationId: this.organizationId, initiator: this.skein.operator() };
  }

  head(line: string, ...lines: string[]): string {
    return [`${line} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${this.key}`, ...lines, '', ''].join(
      '\r\n',
    );
  }

  getThread(...lines: string[]): string {
    return this.head(`GET /api/v1/threads/${this.threadId}`, ...lines);
  }

  post(body: string): string {
    const lines = ['Content-Type: application/json', `Content-Length: ${body.length}`];
    return this.head('POST /api/v1/threads', ...lines) + body;
  }
}
