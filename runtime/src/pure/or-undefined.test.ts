import assert from 'node:assert/strict';
import { it } from 'node:test';
import { orUndefined } from './or-undefined.ts';

it('returns the value, or undefined in place of an error', () => {
  assert.deepEqual(
    ['{"a":1}', '{'].map((json) => orUndefined(() => JSON.parse(json))),
    [{ a: 1 }, undefined],
  );
});
