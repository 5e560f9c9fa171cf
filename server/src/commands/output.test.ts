import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonLine } from './output.ts';

describe('A line of JSON', () => {
  it('has the same value, and no control character for the terminal', () => {
    const hostile = Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code)).join('');
    const line = jsonLine({ title: hostile });
    assert.doesNotMatch(line.slice(0, -1), /\p{Cc}/u);
    assert.deepEqual(JSON.parse(line), { title: hostile });
  });
});
