import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { entityTag, matchesEntityTag, normalizeUrl, parseQuery, preferredWaitSeconds } from './request.ts';

describe('A request target', () => {
  it('is unchanged when it can be decoded', () => {
    for (const target of ['/', '/a/b?c=%zz', '/a%20b', '//a', '*'])
      assert.equal(normalizeUrl(target), target);
  });

  it('may be in absolute form', () => {
    assert.equal(normalizeUrl('http://host:1/a?b'), '/a?b');
    assert.equal(normalizeUrl('HTTPS://host'), '/');
    assert.equal(normalizeUrl('http://host?x=/y'), '?x=/y');
  });

  it('becomes an unknown path when it cannot be decoded', () => {
    assert.equal(normalizeUrl('/threads/%zz?limit=%zz'), '/threads/!zz?limit=%zz');
    assert.equal(normalizeUrl('/threads/%ff'), '/threads/!ff');
  });

  it('is shortened when it is longer than any known path', () => {
    assert.equal(normalizeUrl(`/${'a'.repeat(2000)}?limit=1`), `/${'a'.repeat(1023)}?limit=1`);
    assert.equal(normalizeUrl(`/${'%zz'.repeat(2000)}`).length, 1024);
  });

  it('keeps one query parameter more than allowed', () => {
    const allowed = `/a?${Array(32).fill('b=%zz').join('&')}`;
    assert.equal(normalizeUrl(allowed), allowed);
    assert.equal(normalizeUrl(`${allowed}&c=1`), `${allowed}&c=1`);
    assert.equal(normalizeUrl(`${allowed}&c=1${'&a'.repeat(5000)}`), `${allowed}&c=1`);
  });
});

const schema = { properties: { limit: { type: 'integer' }, accountId: { type: 'string' } } };

describe('A query', () => {
  it('parses the known parameters', () => {
    assert.deepEqual(parseQuery('', schema), {});
    assert.deepEqual(parseQuery('limit=5&accountId=a%20b+c%2Bd&other=%zz&other=1&__proto__=1', schema), {
      limit: 5,
      accountId: 'a b c+d',
    });
    assert.deepEqual(parseQuery('accountId', schema), { accountId: '' });
    assert.deepEqual(parseQuery('accountId=a=b', schema), { accountId: 'a=b' });
    assert.deepEqual(parseQuery('%6Cimit=5', schema), { limit: 5 });
  });

  it('accepts only plain decimals as integers', () => {
    for (const text of ['1e1', '1.5', '', ' 5', '+5', '05', '-0', '0x5', '٣', '9'.repeat(16)]) {
      assert.equal(typeof parseQuery(`limit=${encodeURIComponent(text)}`, schema).limit, 'string', text);
    }
  });

  it('skips names that cannot be decoded without an error for each', (test) => {
    const decoded = test.mock.method(globalThis, 'decodeURIComponent');
    assert.deepEqual(parseQuery('%&%4&%ff&%ED%A0%80=1&%zz=1&a%=&%6cimit=5', schema), { limit: 5 });
    assert.ok(decoded.mock.calls.every(({ error }) => error === undefined));
  });

  it('rejects more than 32 parameters, known or not', () => {
    const parameters = [...Array(31).fill('x=1'), 'limit=5'];
    assert.deepEqual(parseQuery(parameters.join('&'), schema), { limit: 5 });
    assert.throws(() => parseQuery(['', ...parameters].join('&'), schema), {
      code: 'INVALID_PARAMS',
      message: 'Query string must have at most 32 parameters.',
    });
  });

  it('rejects a known parameter that is repeated or cannot be decoded', () => {
    for (const query of [
      'limit=1&limit=1',
      'limit=1&%6Cimit=2',
      'accountId=%zz',
      'accountId=%ff',
      'accountId=%ED%A0%80',
    ]) {
      assert.throws(() => parseQuery(query, schema), { code: 'INVALID_PARAMS' }, query);
    }
  });
});

describe('An entity tag', () => {
  const tag = entityTag('what it says');

  it('is the same only for the same content', () => {
    assert.equal(entityTag('what it says'), tag);
    assert.notEqual(entityTag('what it said'), tag);
    assert.match(tag, /^W\/"[^"]+"$/);
  });

  it('matches by weak comparison, in a list, and by *', () => {
    for (const header of [tag, tag.slice(2), `"x", ${tag}`, ` ${tag} ,"y"`, '*'])
      assert.ok(matchesEntityTag({ 'if-none-match': header }, tag), header);
  });

  it('does not match anything else', () => {
    for (const header of ['', '"x"', 'W/"x"', tag.slice(0, -1), 'what it says', ',,', '"*"']) {
      assert.ok(!matchesEntityTag({ 'if-none-match': header }, tag), header);
    }
    assert.ok(!matchesEntityTag({}, tag));
  });

  it('is compared with at most 32 members', () => {
    for (const member of ['"x"', '']) {
      const listing = (before: number) => ({ 'if-none-match': `${`${member},`.repeat(before)}${tag}` });
      assert.ok(matchesEntityTag(listing(31), tag));
      assert.ok(!matchesEntityTag(listing(32), tag));
    }
  });

  it('reads the header of a request once', () => {
    let reads = 0;
    const headers = {
      get 'if-none-match'() {
        reads += 1;
        return '"x", "y"';
      },
    };
    for (const other of [tag, entityTag('another'), '"y"']) matchesEntityTag(headers, other);
    const before = reads;
    assert.ok(matchesEntityTag(headers, '"x"'));
    // Only the comparison with the whole header, not another reading of its members.
    assert.equal(reads, before + 1);
  });
});

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
    assert.equal(preferredWaitSeconds(`wait=${'9'.repeat(400)}`), 25);
    assert.equal(preferredWaitSeconds('wait=0000000000010'), 10);
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
      ',,,',
      '"wait=10',
      'wait=abc, wait=10',
    ]) {
      assert.equal(preferredWaitSeconds(header), undefined, String(header));
    }
  });
});
