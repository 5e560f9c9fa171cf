import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { authorizeWrites } from '../../../testing/authorize-writes.ts';
import { Accounting, email } from '../../../testing/contract/account-fixture.ts';
import { strangers, World } from '../../../testing/contract/fixture.ts';
import { createIdGenerator } from '../../domain/id.ts';
import { defaultLimits } from '../../domain/limits.ts';
import type { KnownDevice } from '../../domain/sign-in.ts';
import { createSeal } from '../../security/seal.ts';
import type { Store } from '../../storage/port/store.ts';
import { openSqliteStore } from '../../storage/sqlite/open.ts';
import { createCountUse } from '../count-use.ts';
import { createInvitations } from './invitations.ts';
import { createMailLimit } from './mails.ts';
import { createMembers } from './members.ts';
import { createPasswordLinks } from './password-links.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

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
    const store = {
      ...world.store,
      countPrompt: () => assert.fail('counted'),
      listMembers: () => assert.fail('listed all members'),
    };
    const authorize = authorizeWrites(store);
    const limits = { ...defaultLimits, organizationMembersMax: 1 };
    const sendsMail = true;
    const members = createMembers({
      store,
      ids: createIdGenerator(Date.now, randomBytes),
      now: () => world.clock.ms,
      limits,
      sendsMail,
      hasProvider: false,
      sessions: { otherMemberships: async () => [] },
      authorize,
      limitMails: createMailLimit({
        countUse: createCountUse({ store, authorize }),
        limits,
        sha256,
        sendsMail,
      }),
      issueInvitation: () => assert.fail('invited'),
    });
    const change = { organizationId, initiator: { authority, traceId: 'trace' } };
    const add = (address: string) => members.add(change, { email: address });
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
  const service = { isDown: false };
  /** The addresses that were looked up since the last call, in order. */
  const lookups = () => lookedUp.splice(0);
  const lookedUp: string[] = [];
  const assertUp = async () => assert.ok(!service.isDown, 'unreachable');
  const store: Store = {
    ...world.store,
    ping: assertUp,
    async findPerson(address) {
      lookedUp.push(address);
      await assertUp();
      return world.store.findPerson(address);
    },
  };
  const issueInvitation = createInvitations({
    store,
    ids: createIdGenerator(Date.now, randomBytes),
    now: () => world.clock.ms,
    randomBytes,
    sha256,
    seal: createSeal(new Uint8Array(32)),
    baseUrl: () => 'http://localhost',
    sendsMail: false,
    hasProvider: false,
    authorize: authorizeWrites(store),
  });
  const passwordLinks = createPasswordLinks({
    store,
    limits: { mailsPerPerson: 5 },
    sha256,
    issueInvitation,
  });
  const warnings: unknown[] = [];
  const log = { warn: (line: unknown) => warnings.push(line), error: assert.fail, info: assert.fail };
  const links = () => people.noted(organization, 'password.link-requested', userId);
  return { world, userId, passwordLinks, service, lookups, warnings, log, links };
}

describe('A password link', () => {
  it('is not promised while the store fails, and is created once it works again', async (test) => {
    const { passwordLinks, service, lookups, warnings, log, links } = await openForgetful(test);
    service.isDown = true;
    for (const address of [email, 'nobody@example.org'])
      await assert.rejects(passwordLinks.request({ email: address, traceId: 'trace' }), /unreachable/);
    service.isDown = false;
    await passwordLinks.sendRequested(log);
    assert.deepEqual(lookups(), [], 'a request that failed is not kept');

    await passwordLinks.request({ email, traceId: 'trace' });
    await passwordLinks.request({ email: 'nobody@example.org', traceId: 'trace' });
    service.isDown = true;
    await assert.rejects(passwordLinks.sendRequested(log), /unreachable/);
    service.isDown = false;
    assert.deepEqual(lookups(), [email]);
    assert.equal(await links(), 0);
    await passwordLinks.sendRequested(log);
    assert.deepEqual(lookups(), ['nobody@example.org', email], 'takes turns');
    assert.equal(await links(), 1);
    await passwordLinks.sendRequested(log);
    assert.deepEqual(lookups(), [], 'a request is handled once');

    await passwordLinks.request({ email, traceId: 'later' });
    await passwordLinks.sendRequested(log);
    const reason = 'A link that was sent earlier is still valid.';
    assert.deepEqual(warnings, [{ trace_id: 'later', reason }]);
    lookups();
    await passwordLinks.sendRequested(log);
    assert.deepEqual(lookups(), [], 'a rejected request is not tried again');
  });

  it('is limited apart for each known device of the person, so that strangers cannot use up their links', async (test) => {
    const { world, userId, passwordLinks, lookups, warnings, log, links } = await openForgetful(test);
    const sendAfterLast = async (device?: KnownDevice) => {
      world.clock.pass(31 * 60_000);
      const before = await links();
      await passwordLinks.request({ email, device, traceId: 'trace' });
      await passwordLinks.sendRequested(log);
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
    lookups();
    await passwordLinks.request({ email, device: device('third'), traceId: 'device' });
    await passwordLinks.request({ email, traceId: 'stranger' });
    await passwordLinks.sendRequested(log);
    assert.deepEqual(lookups(), [email, email], 'neither replaces the other');
  });
});
