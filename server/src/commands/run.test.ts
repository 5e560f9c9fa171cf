import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { invalid } from '../domain/errors.ts';
import { printError } from './run.ts';

function printed(test: TestContext, error: unknown, level: string): string {
  const before = process.env.SKEIN_LOG_LEVEL;
  const written = test.mock.method(process.stderr, 'write', () => true);
  try {
    process.env.SKEIN_LOG_LEVEL = level;
    assert.equal(printError(error), 1);
    return written.mock.calls.map(({ arguments: [text] }) => text).join('');
  } finally {
    written.mock.restore();
    if (before === undefined) delete process.env.SKEIN_LOG_LEVEL;
    else process.env.SKEIN_LOG_LEVEL = before;
  }
}

describe('The error of a command', () => {
  it('is one sentence', (test) => {
    for (const [error, level] of [
      [new TypeError('x is null'), 'info'],
      [invalid('x is null'), 'debug'],
    ] as const)
      assert.match(printed(test, error, level), /^\S*skein:\S* x is null\n$/);
  });

  it('is followed by its stack at the level debug if it is unexpected', (test) => {
    const output = printed(test, new TypeError('x is null'), 'debug');
    assert.match(output, / x is null\nTypeError: x is null\n +at .*run\.test\.ts/);
  });

  it('does not show a URL with a password', (test) => {
    const error = new TypeError('Invalid URL', { cause: new Error('secret') });
    const output = printed(test, Object.assign(error, { input: 'postgres://u:secret@h' }), 'debug');
    assert.doesNotMatch(output, /secret/);
  });
});
