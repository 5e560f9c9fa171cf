import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseArguments } from './command-line.ts';

describe('The arguments of a command', () => {
  const parse = (usage: string, ...words: string[]) => parseArguments({ name: 'x', usage }, ['x', ...words]);

  it('are parsed as its usage line says', () => {
    assert.deepEqual(
      parse('ORG FILE… [--account ID] [--force]', 'o', 'a', 'b', '--account', 'i', '--force'),
      {
        positionals: ['o', 'a', 'b'],
        options: { __proto__: null, account: 'i', force: true },
      },
    );
    assert.deepEqual(parse('[QUESTION]').positionals, []);
    assert.deepEqual(parse('ORG (--user EMAIL | --org-wide)', 'o', '--org-wide').options['org-wide'], true);
  });

  it('are rejected with a message that says what the usage line allows', () => {
    assert.throws(() => parse('ORG KEY_ID', 'o'), /takes ORG and KEY_ID\.$/);
    assert.throws(() => parse('', 'o'), /takes no arguments/);
    assert.throws(() => parse('[--role admin|member]', '--role', 'king'), /admin or member, and is 'king'/);
    assert.throws(() => parse('[--role a|b|c]', '--role', 'd'), /must be one of a, b, c, and is 'd'/);
    assert.throws(() => parse('(--dry-run | --yes)', '--yes=1'), /--yes/);
    assert.throws(() => parse('[--service]', '--user', 'x'), /--user/);
  });
});
