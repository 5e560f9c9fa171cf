import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { assertEnvelope, RawConnection, type RawResponse } from '../../harness/http/raw-http.ts';
import { root, type Service } from '../../harness/service/service.ts';
import { sharedService, startWithoutDemo } from '../../harness/service/shared-service.ts';
import { makeMember, makeOrganization } from '../../harness/world/tenants.ts';

const megabyte = 1_000_000;
const body = Buffer.alloc(10 * megabyte, 'x');
const timesEach = 5;
const requestTimeoutMs = 10_000;

const tls = {
  SKEIN_TLS_CERT: join(root, 'tests/stand-ins/localhost-certificate.pem'),
  SKEIN_TLS_KEY: join(root, 'tests/stand-ins/localhost-key.pem'),
};

for (const [name, environment] of Object.entries({ HTTP: {}, HTTPS: tls })) {
  describe(`The last response of a connection over ${name}`, { concurrency: true }, () => {
    let service: Service;
    let key: string;
    let spentKey: string;
    before(async () => {
      service = await startWithoutDemo({
        ...environment,
        SKEIN_DRAIN_MS: '600000',
        SKEIN_REQUEST_TIMEOUT_MS: String(requestTimeoutMs),
      });
      const acme = await makeOrganization(service, 'Acme');
      ({ key } = await makeMember(service, acme, 'ada@acme.example'));
      const spent = await makeOrganization(service, 'Spent', 0);
      ({ key: spentKey } = await makeMember(service, spent, 'ada@spent.example'));
    });
    after(() => service.end('SIGKILL'));

    /** The response, read by a client that sends everything before it reads. */
    async function sendThenRead(target: string, ...fields: string[]): Promise<RawResponse> {
      const connection = await RawConnection.open(service);
      connection.stopReading();
      connection.send([`${target} HTTP/1.1`, 'Host: x', ...fields, '', ''].join('\r\n'));
      connection.send(body);
      await connection.sent();
      connection.startReading();
      const answer = await connection.answer('POST');
      assert.equal(answer.headers.get('connection'), 'close');
      assertEnvelope(answer);
      await connection.ended();
      connection.close();
      return answer;
    }

    it('reaches a client in full that is still sending a rejected body during a drain', async () => {
      service.signal('SIGTERM');
      const length = `Content-Length: ${body.length}`;
      const json = 'Content-Type: application/json';
      const create = 'POST /api/v1/threads';
      const refusals: [status: number, target: string, ...fields: string[]][] = [
        [401, create, length],
        [400, create, length, json, `Authorization: Bearer ${key}`],
        [429, create, length, json, `Authorization: Bearer ${spentKey}`],
        [404, 'POST /nowhere', length],
        [404, 'POST /nowhere', 'Connection: Upgrade', 'Upgrade: websocket'],
      ];
      const draining = await RawConnection.open(service);
      const isDraining = async () => {
        draining.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
        return (await draining.answer()).headers.get('connection') === 'close';
      };
      while (!(await isDraining()));
      for (const [status, target, ...fields] of refusals) {
        for (let times = 0; times < timesEach; times += 1) {
          const answer = await sendThenRead(target, ...fields);
          assert.equal(answer.status, status, `${target}: ${answer.body}`);
        }
      }
    });

    it('is followed by a close, and a client that never stops sending is cut off', async () => {
      const connection = await RawConnection.open(service);
      connection.send('garbage\r\n\r\n');
      assert.equal((await connection.answer()).status, 400);
      const sendOn = async () => {
        for (let sent = 0; sent < 300 * megabyte; sent += body.length) {
          connection.send(body);
          await connection.sent();
        }
      };
      await assert.rejects(sendOn, { syscall: 'write' });
    });

    it('is followed by a close, and a client that sends slowly is cut off at the request timeout', async () => {
      const connection = await RawConnection.open(service);
      connection.send('garbage\r\n\r\n');
      assert.equal((await connection.answer()).status, 400);
      const deadline = performance.now() + 10 * requestTimeoutMs;
      const sendSlowly = async () => {
        while (performance.now() < deadline) {
          connection.send('x');
          await connection.sent();
          await pause(100);
        }
      };
      await assert.rejects(sendSlowly, { syscall: 'write' });
    });
  });
}

describe('A rejected request', () => {
  let service: Service;
  before(async () => {
    service = await sharedService();
  });

  it('closes its connection if a large body is left unread, and keeps it if the body is small', async () => {
    for (const [length, closes] of [
      [100, false],
      [100_000, true],
    ] as const) {
      const connection = await RawConnection.open(service);
      connection.send(`POST /api/v1/threads HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
      const { status, headers } = await connection.answer();
      assert.equal(status, 401);
      assert.equal(headers.get('connection') === 'close', closes, `a body of ${length} bytes`);
      connection.close();
    }
  });
});
