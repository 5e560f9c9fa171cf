import { converse, create, get, remove, rename } from './callers.ts';
import { crash, cutOff, outage, pause, restart, setClock, storm } from './faults.ts';
import { follow, wait } from './holders.ts';
import { changeQuota, readQuota, revoke } from './operators.ts';
import type { Random } from './random.ts';
import { walk } from './walker.ts';
import type { World } from './world.ts';

export type Action = (world: World, random: Random) => void;

/** How often each thing happens among all. */
const shares: readonly (readonly [share: number, kind: string, act: Action])[] = [
  [160, 'create', create],
  [96, 'get', get],
  [96, 'rename', rename],
  [96, 'delete', remove],
  [112, 'converse', converse],
  [64, 'wait', wait],
  [32, 'follow', follow],
  [64, 'walk', walk],
  [8, 'read quota', readQuota],
  [8, 'change quota', changeQuota],
  [16, 'revoke', revoke],
  [1, 'crash', crash],
  [1, 'restart', restart],
  [1, 'pause', pause],
  [1, 'outage', outage],
  [1, 'cut off', cutOff],
  [1, 'storm', storm],
  [1, 'set clock', setClock],
];

export const actions: readonly (readonly [kind: string, act: Action])[] = shares.flatMap(
  ([share, kind, act]) => Array.from({ length: share }, () => [kind, act] as const),
);
