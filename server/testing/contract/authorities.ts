import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PersonAuthority } from '../../src/domain/authority.ts';
import type { UserId } from '../../src/domain/id.ts';
import { Accounting, freshHash } from './account-fixture.ts';
import {
  type Change,
  changeNames,
  changes,
  ends,
  type Grounds,
  type Line,
  lines,
  openScene,
  type Scene,
  sessionIdleMs,
} from './authority-lines.ts';
import { by, granted, newDocument, newThread, note, noteBy, strangers, type World } from './fixture.ts';

/**
 * Starts `first`, and `second` when `first` waits or holds what both need, and returns the outcomes. `change` is the one of
 * the two that takes the right away.
 */
export type InOrder = <First, Second>(
  scene: Scene,
  change: Change,
  grounds: Grounds,
  first: () => Promise<First>,
  second: () => Promise<Second>,
) => Promise<[First, Second]>;

const writes = Object.entries(lines).filter((entry): entry is [string, Line] => typeof entry[1] !== 'string');

interface Case {
  readonly name: string;
  readonly line: Line;
  readonly grounds: Grounds;
}

const cases: readonly Case[] = writes.flatMap(([name, line]) =>
  line.by.map((grounds) => ({ name: `${name} by ${grounds}`, line, grounds })),
);

function createAuthority(scene: Scene, grounds: Grounds): PersonAuthority {
  const { person: userId, organization, sessionHash, keyHash } = scene;
  if (grounds === 'key') return { kind: 'key', userId, keyHash };
  const organizationId = grounds === 'person' ? null : organization;
  return {
    kind: 'session',
    userId,
    sessionHash,
    organizationId,
    role: grounds === 'admin' ? 'admin' : 'member',
  };
}

async function prepare(world: World, { line, grounds, name }: Case) {
  const scene = await openScene(world, line.proof);
  const { write, isDone } = await line.prepare(scene);
  assert.equal(await isDone(), false, `${name} was already done`);
  return { scene, isDone, write: () => write(createAuthority(scene, grounds)) };
}

/** The outcome with which the change refuses the write; undefined if it must not matter. */
function refusalBy(change: Change, { line, grounds }: Case): unknown {
  const isEnd = (ends[grounds] as readonly Change[]).includes(change);
  return isEnd ? 'unauthorized' : line.outcomes?.[change];
}

/** What a write could change in the organization of the scene. */
async function readState({ world: { store }, organization, person }: Scene) {
  return [
    await store.listAudit(organization, { limit: 100 }),
    await store.listMembers(organization),
    await store.listApiKeys(organization),
    await store.listKeyRequests(organization),
    await store.listApplications(organization),
    await store.listDocuments(organization),
    await store.findOrganization(organization),
    (await store.beginWalk(organization, { userId: person }, 100)).rows,
  ];
}

/** The promise of every write, for each right on which it depends. `inOrder` is what the adapter's tests know of its locks. */
export function describeAuthorities(engine: string, world: () => World, inOrder: InOrder): void {
  describe(`The authority of a write in the ${engine} store`, () => {
    it('has a line for every method', () => {
      const methods = Object.entries(world().store).filter(([, method]) => typeof method === 'function');
      assert.deepEqual(methods.map(([name]) => name).toSorted(), Object.keys(lines).toSorted());
    });

    for (const change of changeNames) {
      it(`is verified after somebody was ${change}, if it depends on that`, async () => {
        for (const each of cases) {
          const { scene, write, isDone } = await prepare(world(), each);
          await changes[change](scene);
          const before = await readState(scene);
          const [outcome, refusal] = [await write(), refusalBy(change, each)];
          if (refusal === undefined) {
            assert.notEqual(outcome, 'unauthorized', each.name);
            assert.equal(await isDone(), true, each.name);
          } else {
            assert.deepEqual(outcome, refusal, each.name);
            assert.equal(await isDone(), false, each.name);
            assert.deepEqual(await readState(scene), before, each.name);
          }
        }
      });

      it(`is verified while somebody is ${change}: a write that waits for the change is refused`, async () => {
        for (const each of cases) {
          const refusal = refusalBy(change, each);
          if (refusal === undefined) continue;
          const { scene, write, isDone } = await prepare(world(), each);
          const take = (): Promise<unknown> => changes[change](scene);
          const [changed, outcome] = await inOrder(scene, change, each.grounds, take, write);
          assert.notEqual(changed, 'unauthorized', each.name);
          const isRefused = outcome === refusal;
          assert.equal(await isDone(), !isRefused, each.name);
          assert.ok(isRefused || each.line.isUnordered, each.name);
        }
      });

      it(`holds until the commit: somebody who is ${change} meanwhile is ${change} after the write`, async () => {
        for (const each of cases) {
          if (refusalBy(change, each) === undefined) continue;
          const { scene, write, isDone } = await prepare(world(), each);
          const take = (): Promise<unknown> => changes[change](scene);
          const [outcome, changed] = await inOrder(scene, change, each.grounds, write, take);
          // A person who changes their password, for example, ends the session from which the change comes.
          assert.ok(changed !== 'unauthorized' || each.grounds === 'person', each.name);
          const isRefused = outcome === 'unauthorized';
          // What belongs to a membership goes with it.
          if (change !== 'removed') assert.equal(await isDone(), !isRefused, each.name);
          assert.ok(!isRefused || each.line.isUnordered, each.name);
        }
      });
    }

    it('is that of the person, the organization and the role', async () => {
      const [scene, other] = [await openScene(world()), await openScene(world())];
      const { store } = world();
      const { organization, person: userId, sessionHash, keyHash } = scene;
      const session = { kind: 'session', userId, sessionHash, organizationId: organization } as const;
      const create = (in_: Scene['organization'], authority: PersonAuthority) =>
        store.createThread(in_, newThread(userId), authority);
      const member = { ...session, role: 'member' } as const;
      assert.notEqual(await create(organization, member), 'unauthorized');
      const stolen = [
        await create(other.organization, member),
        await create(other.organization, { ...member, organizationId: other.organization }),
        await create(organization, { ...member, organizationId: null }),
        await create(organization, { ...member, userId: other.person }),
        await create(organization, { ...member, sessionHash: other.sessionHash }),
        await create(other.organization, { kind: 'key', userId, keyHash }),
        await create(organization, { kind: 'key', userId: other.person, keyHash }),
        await create(organization, { kind: 'key', userId, keyHash: other.keyHash }),
        await create(organization, { kind: 'key', userId, keyHash: sessionHash }),
      ];
      assert.deepEqual(stolen, Array(stolen.length).fill('unauthorized'));
    });

    it('of a session is that of the memberships which it may enter, however they were accepted', async () => {
      const { store } = world();
      const people = new Accounting(world());
      const outcomes = new Set<boolean>();
      for (const accepted of ['by password', 'by another password', 'by the operator', 'sso', 'not']) {
        for (const proof of ['password', 'sso']) {
          const [organization, elsewhere] = [await world().organization(), await world().organization()];
          const email = `${strangers.user()}@example.org`;
          const userId = await people.add(organization, email);
          await people.add(elsewhere, email);
          const own = { passwordHash: `own of ${email}` };
          if (accepted === 'by password') await people.join(organization, userId, own.passwordHash);
          if (accepted === 'by another password') await people.join(organization, userId, 'another');
          if (accepted === 'by the operator')
            await people.join(organization, userId, own.passwordHash, { byOperator: true });
          // In `elsewhere` the person has a password in every case, unless it is proven.
          if (accepted !== 'by the operator') {
            const known = accepted === 'by password' ? { proven: own.passwordHash } : own.passwordHash;
            await people.join(elsewhere, userId, known);
          }
          if (proof === 'sso' || accepted === 'sso') await people.bind(email);
          const canSignIn = (await people.hashes(email))?.includes(own.passwordHash) === true;
          if (proof === 'password' && !canSignIn) continue;
          const sessionHash = await people.signIn(userId, proof === 'password' ? own : {});
          if (accepted === 'sso') {
            const authority = {
              kind: 'session',
              userId,
              sessionHash,
              organizationId: null,
              role: 'member',
            } as const;
            await store.acceptMembership(organization, note('member.joined', userId, { authority }));
          }
          const session = { kind: 'session', userId, sessionHash } as const;
          const authority = { ...session, organizationId: organization, role: 'member' } as const;
          const isEntered = (await store.findSession(sessionHash, organization))?.membership !== undefined;
          outcomes.add(isEntered);
          const what = `a membership accepted ${accepted}, with a session by ${proof}`;
          const batched = await store.createThread(organization, newThread(userId), authority);
          assert.equal(batched !== 'unauthorized', isEntered, what);
          const request = { id: strangers.key() as never, name: '', keepMs: 1000, waitingMax: 1 };
          const shared = await store.createKeyRequest(
            organization,
            request,
            note(undefined, undefined, { authority }),
          );
          assert.equal(shared !== 'unauthorized', isEntered, what);
        }
      }
      assert.equal(outcomes.size, 2);
    });

    it('is verified before anything else, and again after the session has expired', async () => {
      const { store, clock } = world();
      for (const each of cases) {
        const { scene, write, isDone } = await prepare(world(), each);
        // A store whose clock is ahead lets it run at half speed.
        clock.pass(2 * sessionIdleMs);
        const outcome = await write();
        const isRefused = outcome === 'unauthorized';
        assert.equal(isRefused, each.grounds !== 'key', each.name);
        if (isRefused) assert.equal(await isDone(), false, each.name);
        const full = { documentsMax: 0, bytesMax: 0 };
        const authority = createAuthority(scene, 'admin');
        const added = note('document.added', '', { authority });
        assert.equal(await store.putDocument(scene.organization, newDocument(), full, added), 'unauthorized');
      }
    });

    it('to create a key ends when the service account that owns it is replaced by a person', async () => {
      const { store } = world();
      const scene = await openScene(world());
      const { organization, people } = scene;
      const email = `${strangers.user()}@example.org`;
      const authority = createAuthority(scene, 'admin');
      const create = (userId: UserId) => {
        const key = { id: strangers.key(), hash: freshHash(), hint: '', name: '', userId, createdBy: null };
        return store.createApiKey(organization, key, note('key.created', key.id, { authority }));
      };
      const userId = await people.add(organization, email, { service: true });
      assert.equal(await create(userId), 'created');
      await store.removeMember(organization, email, false, note());
      assert.equal(await people.add(organization, email), userId);
      assert.equal(await create(userId), 'not-a-member');
      assert.equal(await create(scene.person), 'created');
    });

    it('of the operator is never refused, even in the name of somebody who has left', async () => {
      const { store } = world();
      const { organization, person, ...scene } = await openScene(world());
      const { id } = await world().thread(organization, person);
      await changes.removed({ ...scene, organization, person });
      assert.equal(await store.setMemberRole(organization, person, 'admin', note()), 'missing');
      const deleted = granted(await store.deleteThread(organization, id, noteBy(person)));
      assert.equal(deleted.outcome, 'deleted');
      const nowhere = store.createThread(strangers.organization(), newThread(person), by(person));
      await assert.rejects(nowhere);
    });
  });
}
