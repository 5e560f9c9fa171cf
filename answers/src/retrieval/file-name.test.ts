import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bareName } from './file-name.ts';

describe('the name by which a document is found', () => {
  it('has neither folder nor extension', () => {
    assert.equal(bareName('handbook/returns.md'), 'returns');
    assert.equal(bareName('C:\\handbook\\returns.md'), 'returns');
    assert.equal(bareName('.md'), '.md');
  });

  it('has no section if it is a manual page that was stored while those were accepted', () => {
    assert.equal(bareName('man1/ls.1'), 'ls');
  });
});
