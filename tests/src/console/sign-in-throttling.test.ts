import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../replies/shared-store.ts';
import { Service } from '../service.ts';
import { clockThatLeaps } from '../shifted-clock.ts';
import { assertRefused } from './assertions.ts';
import { ConsoleClient, signedInMember, testPassword } from './console-client.ts';

const failuresOfPersonMax = 10;
const failuresOfPlaceMax = 100;

describe('Guessing at passwords', () => {
  let service: Service;
  before(async () => {
    service = await Service.start({ environment: clockThatLeaps(60_000) });
    await signedInMember(service, 'Demo', 'ada@demo.example');
    await signedInMember(service, 'Demo', 'ben@demo.example');
  });
  after(() => service?.end());

  const signIn = (email: string, password: string) =>
    new ConsoleClient(service.baseUrl).signIn(email, password);

  async function assertThrottled(answer: Awaited<ReturnType<typeof signIn>>, what?: string): Promise<void> {
    assertRefused(answer, 'RATE_LIMITED', what);
    const seconds = Number(answer.headers.get('retry-after'));
    assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, `${seconds} s`);
  }

  /** The minute is over. */
  async function leap(email: string, password: string): Promise<void> {
    service.signal('SIGUSR2');
    await eventually(
      () => signIn(email, password),
      ({ status }) => status === 200,
    );
  }

  for (const [who, email] of [
    ['a person', 'ada@demo.example'],
    ['somebody who does not exist, just as well', 'stranger@demo.example'],
  ] as const) {
    it(`of ${who} is told to wait after ten failures, also at once`, async () => {
      const answers = await Promise.all(
        Array.from({ length: failuresOfPersonMax + 5 }, () => signIn(email, 'not the password')),
      );
      const heard = answers.filter(({ status }) => status === 401);
      assert.equal(heard.length, failuresOfPersonMax);
      for (const answer of answers.filter((one) => !heard.includes(one))) await assertThrottled(answer);
      await assertThrottled(await signIn(email, testPassword), 'the right password is not heard either');
      assert.equal((await signIn('ben@demo.example', testPassword)).status, 200, 'nobody else waits');
    });
  }

  it('may go on after a minute, and what was right is not counted', async () => {
    await leap('ada@demo.example', testPassword);
    for (let time = 0; time < failuresOfPersonMax + 1; time += 1)
      assert.equal((await signIn('ada@demo.example', testPassword)).status, 200);
  });

  it('by changing a password is told to wait, too', async () => {
    const client = await signedInMember(service, 'Demo', 'cleo@demo.example');
    const change = () => client.post('/password', { current: 'a guess', next: 'another good one' });
    for (let time = 0; time < failuresOfPersonMax; time += 1) assertRefused(await change(), 'INVALID_PARAMS');
    await assertThrottled(await change());
  });

  it('of many people, or at invitations, is told to wait after a hundred failures from one place', async () => {
    await leap('ada@demo.example', testPassword);
    const client = new ConsoleClient(service.baseUrl);
    const guess = (place: number) =>
      client.post('/invitation/read', { token: `inv_${String(place).padStart(32, '0')}` });
    let heard = 0;
    while ((await guess(heard)).status === 404 && heard <= failuresOfPlaceMax) heard += 1;
    assert.equal(heard, failuresOfPlaceMax);
    await assertThrottled(await guess(heard));
    await assertThrottled(await signIn('ben@demo.example', testPassword));
    await leap('ben@demo.example', testPassword);
  });
});
