import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefused } from '../../harness/console/assertions.ts';
import { ConsoleClient, signedInMember, testPassword } from '../../harness/console/console-client.ts';
import { eventually } from '../../harness/service/eventually.ts';
import type { Service } from '../../harness/service/service.ts';
import { startWithoutDemo } from '../../harness/service/shared-service.ts';
import { clockThatLeaps } from '../../harness/service/shifted-clock.ts';

const failuresOfPersonMax = 10;
const failuresOfPlaceMax = 100;
const failuresOfAccountMax = 50;

describe('Password guessing', () => {
  let service: Service;
  let ben: ConsoleClient;
  before(async () => {
    service = await startWithoutDemo({
      ...clockThatLeaps(60_000),
      SKEIN_TRUSTED_PROXIES: '127.0.0.1',
    });
    await signedInMember(service, 'First', 'ada@demo.example');
    ben = await signedInMember(service, 'First', 'ben@demo.example', 'admin');
  });
  after(() => service?.end());

  const nobody = () => new ConsoleClient(service.baseUrl);
  const signIn = (email: string, password: string) => nobody().signIn(email, password);

  /** From a different client address, as reported by the trusted proxy. */
  const signInFrom = (address: string, email: string, password: string, client = nobody()) =>
    client.call('POST', '/sign-in', { body: { email, password }, headers: { 'x-forwarded-for': address } });

  async function assertThrottled(
    answer: Awaited<ReturnType<typeof signIn>>,
    what?: string,
    secondsMax = 60,
  ): Promise<void> {
    assertRefused(answer, 'RATE_LIMITED', what);
    const seconds = Number(answer.headers.get('retry-after'));
    assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= secondsMax, `${seconds} s`);
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
    ['an unknown person', 'stranger@demo.example'],
  ] as const) {
    it(`of ${who} is throttled after ten failures, even concurrent ones`, async () => {
      const answers = await Promise.all(
        Array.from({ length: failuresOfPersonMax + 5 }, () => signIn(email, 'not the password')),
      );
      const heard = answers.filter(({ status }) => status === 401);
      assert.equal(heard.length, failuresOfPersonMax);
      for (const answer of answers.filter((one) => !heard.includes(one))) await assertThrottled(answer);
      await assertThrottled(await signIn(email, testPassword), 'the right password is not heard either');
      assert.equal(
        (await signIn('ben@demo.example', testPassword)).status,
        200,
        'other people are not throttled',
      );
    });
  }

  it('is allowed again after a minute, and successes are not counted', async () => {
    await leap('ada@demo.example', testPassword);
    for (let time = 0; time < failuresOfPersonMax + 1; time += 1)
      assert.equal((await signIn('ada@demo.example', testPassword)).status, 200);
  });

  it('by changing a password is also throttled', async () => {
    const client = await signedInMember(service, 'First', 'cleo@demo.example');
    const change = () => client.post('/password', { current: 'a guess', next: 'another good one' });
    // The attempts that everyone has, and those of a known device.
    for (let time = 0; time < 2 * failuresOfPersonMax; time += 1)
      assertRefused(await change(), 'INVALID_PARAMS');
    await assertThrottled(await change());
  });

  it('of many people, or of invitations, is throttled after a hundred failures from one address', async () => {
    await leap('ada@demo.example', testPassword);
    const client = new ConsoleClient(service.baseUrl);
    const guess = (place: number) =>
      client.post('/invitation/read', { token: `inv_${String(place).padStart(32, '0')}` });
    let heard = 0;
    while ((await guess(heard)).status === 404 && heard <= failuresOfPlaceMax) heard += 1;
    assert.equal(heard, failuresOfPlaceMax);
    await assertThrottled(await guess(heard));
    await assertThrottled(await signIn('ben@demo.example', testPassword));
    assert.equal((await ben.signIn('ben@demo.example', testPassword)).status, 200, 'a known device is heard');
    await leap('ben@demo.example', testPassword);
  });

  it('never locks out a device that has signed in before, and counts its failures separately', async () => {
    const email = 'dora@demo.example';
    const [known, other] = [await signedInMember(service, 'First', email), nobody()];
    assert.equal((await other.signIn(email, testPassword)).status, 200);
    assert.match(known.cookies.get('skein-device') ?? '', /^[\w-]{100,400}$/);
    assert.equal((await known.post('/sign-out')).status, 200);
    for (let time = 0; time < failuresOfPersonMax; time += 1)
      assertRefused(await signIn(email, 'not the password'), 'UNAUTHORIZED');
    await assertThrottled(await signIn(email, testPassword), 'a stranger waits');
    assert.equal((await known.signIn(email, testPassword)).status, 200);

    for (let time = 0; time < failuresOfPersonMax; time += 1)
      assertRefused(await known.signIn(email, 'not the password'), 'UNAUTHORIZED');
    await assertThrottled(await known.signIn(email, testPassword));
    assert.equal((await other.signIn(email, testPassword)).status, 200, 'each device counts for itself');

    const thief = nobody();
    thief.cookies.set('skein-device', other.cookies.get('skein-device') as string);
    const victim = 'emil@demo.example';
    await signedInMember(service, 'First', victim);
    for (let time = 0; time < failuresOfPersonMax; time += 1)
      assertRefused(await signIn(victim, 'not the password'), 'UNAUTHORIZED');
    assertRefused(await thief.signIn(victim, testPassword), 'UNAUTHORIZED', 'it is known for one person');
    thief.cookies.set('skein-device', 'made-up');
    await assertThrottled(await thief.signIn(victim, testPassword));
  });

  it('is not helped by a device of a password that was changed, while the device that changed it stays known', async () => {
    const email = 'hal@demo.example';
    const [owner, thief] = [await signedInMember(service, 'First', email), nobody()];
    assert.equal((await thief.signIn(email, testPassword)).status, 200);
    const next = 'the next words of Hal';
    assert.equal((await owner.post('/password', { current: testPassword, next })).status, 200);
    for (let time = 0; time < failuresOfPersonMax; time += 1)
      assertRefused(await signIn(email, 'not the password'), 'UNAUTHORIZED');
    await assertThrottled(await signIn(email, next), 'a stranger waits');
    assert.equal((await owner.signIn(email, next)).status, 200);
    assertRefused(await thief.signIn(email, next), 'UNAUTHORIZED', 'even the right guess');
  });

  it('of one person from many addresses is throttled, except on a known device', async () => {
    const email = 'fay@demo.example';
    const known = await signedInMember(service, 'First', email);
    for (let place = 0; place < failuresOfAccountMax; place += 1)
      assertRefused(await signInFrom(`192.0.2.${place}`, email, 'not the password'), 'UNAUTHORIZED');
    await assertThrottled(await signInFrom('198.51.100.1', email, testPassword), 'a fresh address', 900);
    assert.equal((await signInFrom('198.51.100.2', email, testPassword, known)).status, 200);
    assert.equal((await signInFrom('198.51.100.3', 'ben@demo.example', testPassword)).status, 200);
  });

  it('is in the audit log: the first failure at once, a flood as one entry', async () => {
    const refused = async (email: string) => {
      const { body } = await ben.get(ben.at('/audit?limit=100'));
      return body.events.filter(
        ({ action, detail }: any) => action === 'session.refused' && detail.email === email,
      );
    };
    const email = 'gil@demo.example';
    await signedInMember(service, 'First', email);
    const fail = (place: number) => signInFrom(`192.0.2.${place}`, email, 'not the password');
    assertRefused(await fail(0), 'UNAUTHORIZED');
    const [first] = await eventually(
      () => refused(email),
      (events) => events.length > 0,
    );
    assert.equal(first.actor, 'Skein');
    assert.deepEqual(first.detail, { email, failures: 1, networks: 1 });
    for (const place of [1, 2, 2]) assertRefused(await fail(place), 'UNAUTHORIZED');
    const [flood] = await eventually(
      () => {
        service.signal('SIGUSR2');
        return refused(email);
      },
      (events) => events.length === 2,
    );
    assert.deepEqual(flood.detail, { email, failures: 3, networks: 2 });
    assert.deepEqual(
      await refused('stranger@demo.example'),
      [],
      'an unknown address has no organization to record it',
    );
  });
});
