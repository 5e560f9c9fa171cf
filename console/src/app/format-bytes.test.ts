import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatBytes } from './format-bytes.ts';

describe('formatBytes', () => {
  it('uses the largest unit that fits', () => {
    const sizes = [0, 1, 1023, 1024, 1536, 1024 ** 2 - 1, 50 * 1024 ** 2, 1024 ** 3, 3000 * 1024 ** 3];
    assert.deepEqual(sizes.map(formatBytes), [
      '0 bytes',
      '1 bytes',
      '1023 bytes',
      '1 kB',
      '1.5 kB',
      '1024 kB',
      '50 MB',
      '1 GB',
      '3000 GB',
    ]);
  });
});
