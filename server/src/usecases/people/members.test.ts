import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Accounting, email } from '../../../testing/contract/account-fixture.ts';
import { strangers, World } from '../../../testing/contract/fixture.ts';
import { createIdGenerator } from '../../domain/id.ts';
import type { KnownDevice } from '../../domain/sign-in.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import type { Context } from '../context.ts';
import { addMember, requestPasswordLink, sendPasswordLinks } from './members.ts';

async function openWorld(test: TestContext): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'skein-members-'));
  const world = await World.open((clock) => openSqliteStore(join(folder, 'x.db'), clock));
  test.after(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return world;
}

describe('Adding a member', () => {
  it('counts no email if the organization is full or the person is already a member', async (test) => {
    const world = await openWorld(test);
    const organizationId = await world.organization();
    const people = new Accounting(world);
    const authority = await people.enter(organizationId, await people.add(organizationId, email));
    const context = {
      store: {
        ...world.store,
        countPrompt: () => assert.fail('counted'),
        listMembers: () => assert.fail('listed all members'),
      },
      ids: createIdGenerator(Date.now, randomBytes),
      mailer: {} as Context['mailer'],
      limits: { organizationMembersMax: 1 } as Context['limits'],
    } as Partial<Context> as Context;
    const change = { context, organizationId, initiator: { authority, traceId: 'trace' } };
    const add = (address: string) => addMember(change, { email: address });
    await assert.rejects(add('bob@example.org'), /limit of 1 member\. Remove some/);
    await assert.rejects(add(email), /is already a member/);
  });
});

/** A person with a password, who can ask for links to a new one. */
async function openForgetful(test: TestContext) {
  const world = await openWorld(test);
  const people = new Accounting(world);
  const organization = await world.organization();
  const userId = await people.add(organization, email);
  await people.join(organization, userId, 'first');
  const context = {
    store: world.store,
    linkRequests: new Map(),
    ids: createIdGenerator(Date.now, randomBytes),
    now: () => world.clock.ms,
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
    randomBytes,
    baseUrl: () => 'http://localhost',
    limits: { mailsPerPerson: 5 } as Context['limits'],
  } as Partial<Context> as Context;
  const warnings: unknown[] = [];
  const log = { warn: (line: unknown) => warnings.push(line), error: assert.fail, info: assert.fail };
  const links = () => people.noted(organization, 'password.link-requested', userId);
  return { world, userId, context, warnings, log, links };
}

describe('A password link', () => {
  it('is not promised while the store fails, and is created once it works again', async (test) => {
    const { world, context, warnings, log, links } = await openForgetful(test);
    const fail = () => Promise.reject(new Error('unreachable'));
    const store = { ...world.store, ping: fail, findPerson: fail };

    for (const address of [email, 'nobody@example.org'])
      await assert.rejects(
        requestPasswordLink({ ...context, store }, { email: address, traceId: 'trace' }),
        /unreachable/,
      );
    assert.equal(context.linkRequests.size, 0);

    await requestPasswordLink(context, { email, traceId: 'trace' });
    await requestPasswordLink(context, { email: 'nobody@example.org', traceId: 'trace' });
    await assert.rejects(sendPasswordLinks({ ...context, store }, log), /unreachable/);
    assert.deepEqual([...context.linkRequests.keys()], ['nobody@example.org', email], 'takes turns');
    assert.equal(await links(), 0);
    await sendPasswordLinks(context, log);
    assert.equal(await links(), 1);
    assert.equal(context.linkRequests.size, 0);

    await requestPasswordLink(context, { email, traceId: 'later' });
    await sendPasswordLinks(context, log);
    const reason = 'A link that was sent earlier is still valid.';
    assert.deepEqual(warnings, [{ trace_id: 'later', reason }]);
    assert.equal(context.linkRequests.size, 0, 'a rejected request is not tried again');
  });

  it('is limited apart for each known device of the person, so that strangers cannot use up their links', async (test) => {
    const { world, userId, context, warnings, log, links } = await openForgetful(test);
    const sendAfterLast = async (device?: KnownDevice) => {
      world.clock.pass(31 * 60_000);
      const before = await links();
      await requestPasswordLink(context, { email, device, traceId: 'trace' });
      await sendPasswordLinks(context, log);
      return (await links()) - before;
    };
    const device = (id: string, owner = userId) => ({ id, userId: owner, password: 'first' });
    for (let sent = 0; sent < 5; sent += 1) assert.equal(await sendAfterLast(), 1);
    assert.equal(await sendAfterLast(), 0, 'too many of strangers');
    assert.equal(await sendAfterLast(device('foreign', strangers.user())), 0, 'a device of somebody else');
    for (let sent = 0; sent < 5; sent += 1) assert.equal(await sendAfterLast(device('own')), 1);
    assert.equal(await sendAfterLast(device('own')), 0, 'too many of this device');
    assert.equal(await sendAfterLast(device('another')), 1);
    const reason = 'This person has reached the daily limit of password links.';
    assert.deepEqual(warnings, Array(3).fill({ trace_id: 'trace', reason }));

    // Requests of a stranger and of a known device at the same time.
    await requestPasswordLink(context, { email, device: device('third'), traceId: 'device' });
    await requestPasswordLink(context, { email, traceId: 'stranger' });
    assert.deepEqual(
      [...context.linkRequests.values()].map(({ traceId }) => traceId),
      ['device', 'stranger'],
    );
  });
});
