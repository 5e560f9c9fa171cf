import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { describeAuthorities } from '../../../testing/contract/authorities.ts';
import type { Change, Grounds, Scene } from '../../../testing/contract/authority-lines.ts';
import { openPostgresWorld, type PostgresWorld } from '../../../testing/contract/postgres-world.ts';

let postgres: PostgresWorld;
before(async () => {
  postgres = await openPostgresWorld();
});
after(() => postgres?.close());

/** The table and the key of a row that the change and every write that depends on it lock. */
function sharedRow({ organization, sessionHash, keyHash, person }: Scene, change: Change, grounds: Grounds) {
  if (change === 'API disabled') return ['organization', 'id', organization];
  if (change === 'key revoked' || grounds === 'key') return ['api_key', 'hash', keyHash];
  if (change === 'demoted' || change === 'removed') return ['member', 'user_id', person];
  return ['session', 'token_hash', sessionHash];
}

// Two writes that wait for a row get it in the order in which they came.
describeAuthorities(
  'postgres',
  () => postgres.world,
  async (scene, change, grounds, first, second) => {
    const { operator, untilWaiting } = postgres;
    const [table, column, key] = sharedRow(scene, change, grounds);
    await operator.query('BEGIN');
    const { rows } = await operator.query(`SELECT FROM ${table} WHERE ${column} = $1 FOR UPDATE`, [key]);
    assert.ok(rows.length > 0);
    const firstDone = first();
    await untilWaiting(1);
    const secondDone = second();
    await untilWaiting(2);
    await operator.query('COMMIT');
    return Promise.all([firstDone, secondDone]);
  },
);
