import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { entityTag, matchesEntityTag } from './request.ts';

describe('An entity tag', () => {
  const tag = entityTag('what it says');

  it('is the same only for the same content', () => {
    assert.equal(entityTag('what it says'), tag);
    assert.notEqual(entityTag('what it said'), tag);
    assert.match(tag, /^W\/"[^"]+"$/);
  });

  it('matches by weak comparison, in a list, and by *', () => {
    for (const header of [tag, tag.slice(2), `"x", ${tag}`, ` ${tag} ,"y"`, '*'])
      assert.ok(matchesEntityTag(header, tag), header);
  });

  it('does not match anything else', () => {
    for (const header of ['', '"x"', 'W/"x"', tag.slice(0, -1), 'what it says', ',,', '"*"']) {
      assert.ok(!matchesEntityTag(header, tag), header);
    }
  });
});
