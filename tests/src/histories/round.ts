import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../../harness/fuzz/chance.ts';
import { Callers } from './callers.ts';
import { findViolations } from './checker.ts';
import { type Credential, type Fault, isUnknown, type Outage, type Revocation } from './history.ts';
import type { Site } from './site.ts';

const pauseBetweenFaultsMs = 400;
const allEndedWithinMs = 60_000;
const smallQuota = 150;
const ampleQuota = '100000000';
const callersEach = 2;

export interface RoundOutcome {
  readonly calls: number;
  /** Calls that got no response or an internal error. All of them during an outage, or there is a violation. */
  readonly unknown: number;
  readonly threads: number;
  readonly walks: number;
  readonly revocations: number;
  readonly outages: readonly Outage[];
  readonly violations: readonly string[];
}

interface RoundOptions {
  /** Distinguishes the organizations of this round from others on the same site. */
  readonly name: string;
  readonly ms: number;
  readonly chance: Chance;
  /** A soak has no faults, and its callers pause half of the time. */
  readonly isSoak?: boolean;
}

/** Lets callers, an operator and faults loose on a site, then checks what they recorded. */
export async function runRound(
  site: Site,
  { name, ms, chance, isSoak = false }: RoundOptions,
): Promise<RoundOutcome> {
  const people = await hire(site, name);
  const callers = new Callers(() => site.addresses(), chance);
  const revocations: Revocation[] = [];
  const outages: Outage[] = [];
  const isRevoked = ({ keyId }: Credential) =>
    revocations.some(({ credential }) => credential.keyId === keyId);
  const calling = Promise.all(
    [...people.lasting, ...people.revocable].flatMap((credential) =>
      Array.from({ length: callersEach }, () => callers.run(credential, () => isRevoked(credential), isSoak)),
    ),
  );
  const deadline = performance.now() + ms;
  const operating = revokeAll(site, people.revocable, ms, revocations);
  while (performance.now() < deadline) {
    await pause(pauseBetweenFaultsMs);
    if (!isSoak) outages.push(await inject(site, chance.pick(site.faults)));
  }
  await operating;
  callers.stop();
  await calling;
  const until = performance.now();
  await site.skein('org', 'set', people.limited, '--quota', ampleQuota);
  await callers.readAll(people.lasting, allEndedWithinMs);
  const { calls } = callers;
  const quotas = new Map(isNearMidnight() ? [] : [[people.limited, { limit: smallQuota, until }]]);
  return {
    calls: calls.length,
    unknown: calls.filter(isUnknown).length,
    threads: new Set(calls.flatMap((call) => (call.kind === 'create' ? [call.title] : []))).size,
    walks: new Set(calls.flatMap((call) => (call.kind === 'page' ? [call.walk] : []))).size,
    revocations: revocations.length,
    outages,
    violations: findViolations({ calls, revocations, outages, quotas }),
  };
}

/** Two organizations with enough quota, and one with little. Two of the keys are revoked during the round. */
async function hire(site: Site, name: string) {
  const [acme, globex, limited] = await Promise.all([
    site.skein('org', 'create', `Acme ${name}`, '--quota', ampleQuota),
    site.skein('org', 'create', `Globex ${name}`, '--quota', ampleQuota),
    site.skein('org', 'create', `Limited ${name}`, '--quota', String(smallQuota)),
  ]);
  const member = async ({ id }: { id: string }, person: string) => {
    const email = `${person}@${name}.example`;
    await site.skein('member', 'add', id, email);
    return { organization: id, user: email };
  };
  const keyFor = async ({
    organization,
    user,
  }: {
    organization: string;
    user: string;
  }): Promise<Credential> => {
    const { id, key } = await site.skein('key', 'create', organization, '--user', user);
    return { keyId: id, key, user, organization };
  };
  const [ada, ben, eve, lea] = [
    await member(acme, 'ada'),
    await member(acme, 'ben'),
    await member(globex, 'eve'),
    await member(limited, 'lea'),
  ];
  return {
    limited: limited.id as string,
    lasting: [await keyFor(ada), await keyFor(ben), await keyFor(eve), await keyFor(lea)],
    revocable: [await keyFor(ada), await keyFor(eve)],
  };
}

async function revokeAll(
  site: Site,
  credentials: readonly Credential[],
  ms: number,
  revocations: Revocation[],
): Promise<void> {
  for (const credential of credentials) {
    await pause(ms / (credentials.length + 1));
    const startedAt = performance.now();
    for (let isDone = false; !isDone; ) {
      isDone = await site.skein('key', 'revoke', credential.organization, credential.keyId).then(
        () => true,
        () => false,
      );
    }
    revocations.push({ credential, startedAt, endedAt: performance.now() });
  }
}

async function inject(site: Site, { name, losesCounts = false, run }: Fault): Promise<Outage> {
  const startedAt = performance.now();
  await run();
  const repairedAt = performance.now();
  await site.untilReady();
  const endedAt = performance.now();
  return { fault: name, losesCounts, startedAt, endedAt, recoveryMs: endedAt - repairedAt };
}

/** A new day begins with a fresh quota, and the clocks of the nodes are ahead. */
function isNearMidnight(): boolean {
  const minutes = (Date.now() / 60_000) % 1440;
  return minutes > 1380 || minutes < 60;
}
