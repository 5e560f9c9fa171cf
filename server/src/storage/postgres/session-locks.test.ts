import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounting, bySession, newMember } from '../../../testing/contract/account-fixture.ts';
import { by, granted, newThread, note, strangers } from '../../../testing/contract/fixture.ts';
import { openPostgresWorld, type PostgresWorld } from '../../../testing/contract/postgres-world.ts';
import { asAdmin, type SessionAuthority } from '../../domain/authority.ts';
import type { DocumentId, OrganizationId } from '../../domain/id.ts';

describe('Writes with sessions', () => {
  let postgres: PostgresWorld;
  let people: Accounting;
  before(async () => {
    postgres = await openPostgresWorld();
    people = new Accounting(postgres.world);
  });
  after(() => postgres?.close());

  const address = () => `${strangers.user()}@example.org`;

  async function enterAsAdmin(organization: OrganizationId, email = address()): Promise<SessionAuthority> {
    return asAdmin(
      await people.enter(organization, await people.add(organization, email, { role: 'admin' })),
    );
  }

  it('that wait in one organization leave connections for others, however many people send them', async () => {
    const { world, operator, untilWaiting } = postgres;
    const { store } = world;
    const [busy, other] = [await world.organization(), await world.organization()];
    const userId = await world.member(other);
    const admins: SessionAuthority[] = [];
    for (let count = 0; count < 9; count += 1) admins.push(await enterAsAdmin(busy));
    await operator.query('BEGIN');
    await operator.query("SELECT pg_advisory_xact_lock(hashtextextended('skein documents ' || $1, 0))", [
      busy,
    ]);
    const removals = admins.flatMap((authority) =>
      Array.from({ length: 2 }, () =>
        store.removeDocument(busy, 'doc_missing' as DocumentId, note('document.removed', '', { authority })),
      ),
    );
    await untilWaiting(2);
    const created = await store.createThread(other, newThread(userId), by(userId));
    await operator.query('COMMIT');
    assert.equal(granted(created).outcome, 'created');
    for (const outcome of await Promise.all(removals)) assert.equal(outcome, 'missing');
  });

  it('of a person whose password is proven meanwhile do what they report', async () => {
    const { world, operator, untilWaiting } = postgres;
    const { store } = world;
    const [organization, elsewhere] = [await world.organization(), await world.organization()];
    const email = address();
    const userId = await people.add(organization, email);
    await people.add(elsewhere, email);
    const passwordHash = `the password of ${userId}`;
    await people.join(organization, userId, passwordHash);
    const authority = bySession(userId, await people.signIn(userId, { passwordHash }), organization);
    const { id } = await world.thread(organization, userId);
    await store.setThreadPublished(organization, id, true, note());
    const link = await people.invite(elsewhere, userId, { byOperator: true });
    await operator.query('BEGIN');
    await operator.query('SELECT FROM invitation WHERE token_hash = $1 FOR UPDATE', [link]);
    const accepted = people.accept(link, { proven: passwordHash });
    await untilWaiting(1);
    const unpublished = note('thread.unpublished', id, { authority });
    const done = store.setThreadPublished(organization, id, false, unpublished);
    await untilWaiting(2);
    await operator.query('COMMIT');
    assert.equal(await accepted, 'accepted');
    assert.equal(await done, 'done');
    assert.equal((await store.findThread(organization, id))?.published, false);
  });

  it('lock the organization before the member', async () => {
    const { world, operator, untilWaiting } = postgres;
    const { store } = world;
    const organization = await world.organization();
    const authority = await enterAsAdmin(organization);
    const { userId } = authority;
    const { id } = await world.thread(organization, userId);
    const writes = [
      () => store.createThread(organization, newThread(userId), authority),
      () => store.renameThread(organization, id, 'Renamed', authority),
      () => store.setThreadPublished(organization, id, true, note('thread.published', id, { authority })),
      () => store.addMember(organization, newMember(address()), note('member.added', '', { authority })),
    ];
    for (const write of writes) {
      await operator.query('BEGIN');
      await operator.query('SELECT FROM organization WHERE id = $1 FOR NO KEY UPDATE', [organization]);
      const written = write();
      await untilWaiting(1);
      const member = 'SELECT FROM member WHERE organization_id = $1 AND user_id = $2 FOR UPDATE NOWAIT';
      assert.equal((await operator.query(member, [organization, userId])).rowCount, 1);
      await operator.query('COMMIT');
      granted<unknown>(await written);
    }
  });

  it('of two admins who add each other do not deadlock', async () => {
    const { world, operator } = postgres;
    const { store } = world;
    const deadlocks = async () => {
      await operator.query('SELECT pg_stat_clear_snapshot()');
      const database = 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()';
      return (await operator.query(database)).rows[0].deadlocks;
    };
    const before = await deadlocks();
    for (let round = 0; round < 8; round += 1) {
      const [one, two] = [await world.organization(), await world.organization()];
      const [first, second] = [address(), address()];
      const [admin, other] = [await enterAsAdmin(one, first), await enterAsAdmin(two, second)];
      const added = await Promise.all([
        store.addMember(one, newMember(second), note('member.added', '', { authority: admin })),
        store.addMember(two, newMember(first), note('member.added', '', { authority: other })),
      ]);
      for (const each of added) assert.equal(granted(each).outcome, 'added');
    }
    assert.equal(await deadlocks(), before);
  });
});
