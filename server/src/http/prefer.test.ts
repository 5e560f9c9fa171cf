import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { preferredWaitSeconds } from './request.ts';

describe('Prefer: wait', () => {
  it('is found among other preferences, in any case, with and without quotes and parameters', () => {
    for (const header of [
      'wait=10',
      'WAIT=10',
      'wait = 10',
      'wait="10"',
      'respond-async, wait=10',
      'handling=lenient; a=b, wait=10; foo=bar',
      'return="minimal, wait=3", wait=10',
      'x="a\\", wait=3", wait=10',
      'wait=10, wait=20',
      ' , wait=10',
    ]) {
      assert.equal(preferredWaitSeconds(header), 10, header);
    }
  });

  it('is granted up to 25 seconds', () => {
    assert.equal(preferredWaitSeconds('wait=25'), 25);
    assert.equal(preferredWaitSeconds('wait=26'), 25);
    assert.equal(preferredWaitSeconds('wait=999999999'), 25);
    assert.equal(preferredWaitSeconds('wait=0'), 0);
  });

  it('is ignored when it is missing or not a whole number of seconds', () => {
    for (const header of [
      undefined,
      '',
      'respond-async',
      'wait',
      'wait=',
      'wait=-1',
      'wait=1.5',
      'wait=1e1',
      'wait=ten',
      'waiting=10',
      'x=wait=10',
      'wait=9999999999',
      ',,,',
      '"wait=10',
      'wait=abc, wait=10',
    ]) {
      assert.equal(preferredWaitSeconds(header), undefined, String(header));
    }
  });
});
