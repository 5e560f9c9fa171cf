import { hash } from 'node:crypto';
import { inConsole, initiator } from './callers.ts';
import type { Random } from './random.ts';
import { send } from './request.ts';
import type { Person, World } from './world.ts';

/** Revokes one key of the person, or all with the membership, and creates a new one later. */
export function revoke(world: World, random: Random): void {
  const person = random.pick(world.people);
  const { organizationId, userId, email, keys } = person;
  const isRemoval = random.chance(0.3);
  const key = world.oracle.keys.get(keys.at(-1)!)!;
  send(
    world,
    random,
    `revoke the key of ${email}${isRemoval ? ' with the membership' : ''}`,
    async ({ members, keys }) => {
      if (isRemoval) await members.remove({ organizationId, initiator }, { userId, email });
      else await keys.revoke({ organizationId, initiator }, key.id);
    },
    ({ code }) => {
      const isOver = code !== 'OK' || !key.live.value;
      world.oracle.expect(isOver, 'revoked', () => `the key of ${email} is live after its revocation`);
      world.loop.after(random.integer(1000), 'new key', () => renew(world, random, person, 5));
    },
  );
}

function renew(world: World, random: Random, person: Person, left: number): void {
  const { organizationId, userId, email } = person;
  send(
    world,
    random,
    `a new key for ${email}`,
    async ({ members, keys }, { node }) => {
      const member = await node.store.findMemberById(organizationId, userId);
      if (member === undefined) await members.add({ organizationId, initiator }, { email, service: true });
      const { key } = await keys.create({ organizationId, initiator }, { userId, name: '' });
      person.keys.push(hash('sha256', key));
    },
    ({ code }) => {
      if (code !== 'OK' && left > 0)
        world.loop.after(1000, 'new key', () => renew(world, random, person, left - 1));
    },
  );
}

/** Ends the person's latest session, and starts another one. */
export function signOut(world: World, random: Random): void {
  const person = random.pick(world.people);
  const { userId, email, sessions } = person;
  send(world, random, `end the session of ${email}`, (_, { node }) =>
    node.store.endSession(sessions.at(-1)!),
  );
  const tokenHash = `session of ${email} ${world.nextNumber()}`;
  const session = { tokenHash, userId, passwordHash: null, idleMs: 0, lifeMs: 0 };
  const note = { id: 'evt_1', traceId: '', action: 'session.started', subject: userId, detail: {} } as const;
  world.loop.after(random.integer(1000), 'new session', () =>
    send(
      world,
      random,
      `a new session for ${email}`,
      (_, { node }) => node.store.createSession(session, { ...note, authority: { kind: 'proof', userId } }),
      ({ code }) => {
        if (code === 'OK') sessions.push(tokenHash);
      },
    ),
  );
}

/** A person changes the role of a colleague, or their own: as an admin, which they may not be. */
export function administer(world: World, random: Random): void {
  const person = random.pick(world.people);
  const { organizationId } = person;
  const { initiator: admin } = inConsole(person, 'admin');
  const colleague = random.pick(world.people.filter((one) => one.organizationId === organizationId));
  const role = random.chance(0.5) ? 'admin' : 'member';
  send(world, random, `${person.email} makes ${colleague.email} ${role}`, ({ members }) =>
    members.changeRole({ organizationId, initiator: admin }, colleague.userId, role),
  );
}

/** The operator gives somebody the role of an admin, or takes it away. */
export function changeRole(world: World, random: Random): void {
  const { organizationId, userId, email } = random.pick(world.people);
  const role = random.chance(0.5) ? 'admin' : 'member';
  send(world, random, `the operator makes ${email} ${role}`, ({ members }) =>
    members.changeRole({ organizationId, initiator }, userId, role),
  );
}

export function changeQuota(world: World, random: Random): void {
  const { organizationId } = random.pick(world.people);
  const dailyQuota = random.chance(0.5) ? random.integer(300) : 1_000_000;
  send(world, random, `the quota of ${organizationId} is ${dailyQuota}`, ({ organizations }) =>
    organizations.change({ organizationId, initiator }, { dailyQuota }),
  );
}

export function readQuota(world: World, random: Random): void {
  const { organizationId } = random.pick(world.people);
  send(world, random, `read the quota of ${organizationId}`, (_, { node }) =>
    node.store.readQuota(organizationId, Math.floor(node.now() / 86_400_000)),
  );
}
