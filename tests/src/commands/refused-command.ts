import assert from 'node:assert/strict';
import type { CommandOutcome } from '../../harness/service/service.ts';

/** Fails unless the command exited with 1, printed nothing, and wrote one line to standard error that says `what` to do. */
export function assertRefused({ exitCode, stdout, stderr }: CommandOutcome, what: RegExp): void {
  assert.equal(exitCode, 1, stderr);
  assert.equal(stdout, '');
  assert.match(stderr, /^skein: [^\n]+\.\n$/);
  assert.match(stderr, what);
}
