import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefused } from '../../harness/console/assertions.ts';
import {
  ConsoleClient,
  parseToken,
  signedInMember,
  testPassword,
} from '../../harness/console/console-client.ts';
import { ThreadStream } from '../../harness/console/thread-stream.ts';
import { eventually } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { clockThatLeaps, dayMs } from '../../harness/service/shifted-clock.ts';

const leapDays = 4;

describe('A session', () => {
  let service: Service;
  let lateInvitation: string;
  const nobody = () => new ConsoleClient(service.baseUrl);
  before(async () => {
    service = await startWithoutDemo(clockThatLeaps(leapDays * dayMs));
    await signedInMember(service, 'First', 'ada@demo.example');
    lateInvitation = (await service.skein('member', 'add', 'First', 'late@demo.example')).invitation;
  });
  after(() => service?.end());

  const serviceDay = async (): Promise<number> => {
    const answer = await nobody().get('/sign-in');
    const traceId = answer.headers.get('x-request-id') as string;
    const line = await eventually(
      () => service.output.find((text) => text.includes(traceId)),
      (text) => text !== undefined,
    );
    return Date.parse(JSON.parse(line as string).time) / dayMs;
  };

  /** Four days pass. */
  async function leap(): Promise<void> {
    const before = await serviceDay();
    service.signal('SIGUSR2');
    await eventually(serviceDay, (day) => day >= before + leapDays);
  }

  it('can be started by an invitation for seven days', async () => {
    const read = () => nobody().post('/invitation/read', { token: parseToken(lateInvitation) });
    await leap();
    assert.equal((await read()).status, 200);
    await leap();
    assertRefused(await read(), 'NOT_FOUND');
    assertRefused(await nobody().acceptInvitation(lateInvitation, testPassword), 'NOT_FOUND');
  });

  it('lasts seven days after its last use', async () => {
    const client = nobody();
    assert.equal((await client.signIn('ada@demo.example', testPassword)).status, 200);
    await leap();
    assert.equal((await client.get('/session')).status, 200);
    await leap();
    assert.equal((await client.get('/session')).status, 200, 'eight days after it began');
    await leap();
    await leap();
    assertRefused(await client.get('/session'), 'UNAUTHORIZED', 'eight days after it was used');
    assertRefused(await client.post('/sign-out'), 'UNAUTHORIZED');
    assertRefused(await client.get(client.at('/usage')), 'UNAUTHORIZED');
  });

  it('is not kept alive by background requests of the page', async () => {
    const client = nobody();
    assert.equal((await client.signIn('ada@demo.example', testPassword)).status, 200);
    const headers = { 'x-skein-background': '1' };
    const poll = () => client.call('GET', client.at('/threads?scope=mine&limit=6'), { headers });
    await leap();
    assert.equal((await poll()).status, 200);
    await leap();
    assertRefused(await poll(), 'UNAUTHORIZED', 'eight days after a person used it');
  });

  it('is not kept alive by an open thread that reconnects', async () => {
    const client = nobody();
    assert.equal((await client.signIn('ada@demo.example', testPassword)).status, 200);
    const { status, body } = await client.post(client.at('/threads'), { prompt: 'Hello' });
    assert.equal(status, 201);
    const connect = () => ThreadStream.open(client, client.at(`/threads/${body.thread.id}/events`));
    await leap();
    const stream = await connect();
    await stream.until(({ view }) => view !== undefined);
    await stream.close();
    await leap();
    await assert.rejects(connect(), /401 .*UNAUTHORIZED/, 'eight days after a person used it');
  });

  it('ends thirty days after it started, even if it is in use', async () => {
    const client = nobody();
    assert.equal((await client.signIn('ada@demo.example', testPassword)).status, 200);
    for (let day = leapDays; day < 30; day += leapDays) {
      await leap();
      assert.equal((await client.get('/session')).status, 200, `after ${day} days`);
    }
    await leap();
    assertRefused(await client.get('/session'), 'UNAUTHORIZED', 'after 32 days');
  });
});

describe('The lifetime of a session', () => {
  it('can be set by the operator', async () => {
    const service = await startWithoutDemo({
      SKEIN_SESSION_IDLE_MS: '60000',
      SKEIN_SESSION_LIFE_MS: '1500',
    });
    try {
      const client = await signedInMember(service, 'First', 'brief@demo.example');
      // Used all the time.
      await eventually(
        () => client.get('/session'),
        ({ status }) => status === 401,
      );
    } finally {
      await service.end();
    }
  });
});
