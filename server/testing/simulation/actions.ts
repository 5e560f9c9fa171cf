import { converse, create, get, remove, rename } from './callers.ts';
import { crash, cutOff, outage, pause, restart, setClock, storm } from './faults.ts';
import { follow, wait } from './holders.ts';
import { administer, changeQuota, changeRole, readQuota, revoke, signOut } from './operators.ts';
import type { Random } from './random.ts';
import { walk } from './walker.ts';
import type { World } from './world.ts';

export type Action = (world: World, random: Random) => void;

type Shares = readonly (readonly [share: number, kind: string, act: Action])[];

/** What callers and operators do. */
const calls: Shares = [
  [20, 'create', create],
  [12, 'get', get],
  [12, 'rename', rename],
  [12, 'delete', remove],
  [14, 'converse', converse],
  [8, 'wait', wait],
  [4, 'follow', follow],
  [8, 'walk', walk],
  [1, 'read quota', readQuota],
  [1, 'change quota', changeQuota],
  [4, 'revoke', revoke],
  [1, 'sign out', signOut],
  [1, 'change role', changeRole],
  [2, 'administer', administer],
];

const faults: Shares = [
  [2, 'crash', crash],
  [2, 'restart', restart],
  [10, 'pause', pause],
  [1, 'outage', outage],
  [1, 'cut off', cutOff],
  [1, 'storm', storm],
  [1, 'set clock', setClock],
];

/** The share of faults among all actions: it varies from few to very many between seeds. */
const climates = [0.002, 0.01, 0.04];

export function pickAction(random: Random, seed: number): readonly [kind: string, act: Action] {
  const isFault = random.chance(climates[seed % climates.length]!);
  return random.pick(isFault ? flatFaults : flatCalls);
}

const flatCalls = calls.flatMap(repeated);
const flatFaults = faults.flatMap(repeated);

function repeated([share, kind, act]: Shares[number]): (readonly [string, Action])[] {
  return Array.from({ length: share }, () => [kind, act] as const);
}
