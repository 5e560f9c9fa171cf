import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { describeAuthorities } from '../../../testing/contract/authorities.ts';
import { World } from '../../../testing/contract/fixture.ts';
import { openSqliteStore } from './open.ts';

const folder = mkdtempSync(join(tmpdir(), 'skein-authorities-'));
let world: World;
before(async () => {
  world = await World.open((clock) => openSqliteStore(join(folder, 'skein.db'), clock));
});
after(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

// Writes that arrive in one turn share a commit, in their order.
describeAuthorities(
  'sqlite',
  () => world,
  (_scene, _change, _grounds, first, second) => Promise.all([first(), second()]),
);
