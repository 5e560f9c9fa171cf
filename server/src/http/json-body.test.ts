import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type FastifyInstance, fastify } from 'fastify';
import { acceptJsonBodies, jsonFault, scanJson } from './json-body.ts';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const object = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join(',')}}`;

describe('The limits of a JSON body', () => {
  it('accept 32 levels and reject 33, closed or not', () => {
    assert.equal(jsonFault(nested(32)), undefined);
    for (const text of [nested(33), '['.repeat(1_000_000), '{"a":'.repeat(33)]) {
      assert.match(jsonFault(text)?.message ?? '', /^Request body must be nested at most 32 levels deep\.$/);
    }
  });

  it('accept 1,000 keys and reject 1,001, over all objects together', () => {
    assert.equal(jsonFault(object(1_000)), undefined);
    for (const text of [object(1_001), `[${'{"a":1},'.repeat(1_001)}0]`]) {
      assert.match(jsonFault(text)?.message ?? '', /^Request body must have at most 1,000 keys\.$/);
    }
  });

  it('reject the 10,001st comma or bracket, and count none in a text', () => {
    const ones = (count: number) => `[${'1,'.repeat(count)}1]`;
    assert.equal(jsonFault(ones(9_999)), undefined);
    assert.equal(jsonFault(`["${',['.repeat(100_000)}"]`), undefined);
    for (const text of [ones(10_000), `[${'[],'.repeat(5_000)}[]]`]) {
      assert.match(jsonFault(text)?.message ?? '', /^Request body must have at most 10,000 values\.$/);
    }
  });

  it('are checked a part of the text at a time, also within a string', () => {
    for (const text of [
      `["${'\\"'.repeat(500_000)}"]`,
      `["${'\\\\\\"'.repeat(250_000)}"]`,
      `[${' '.repeat(1_000_000)}]`,
    ]) {
      assert.equal([...scanJson(text)].length, 15);
    }
  });

  it('reject a key that occurs twice in one object, however it is written, and name it', () => {
    for (const text of [
      '{"title":1,"title":2}',
      '{"title":{"x":[]},"b":"}","title":2}',
      '{"t\\u0069tle":1,"title":2}',
      '[{"a":1},{"title":",","title":2}]',
      '{"prompt":"\\\\","title":"\\"","title":2}',
    ]) {
      assert.match(jsonFault(text)?.message ?? '', /^Duplicate field `title`\.$/, text);
    }
  });

  it('accept the same key in different objects, and the same text as a value', () => {
    for (const text of [
      '{"a":{"a":{"a":"a"}},"b":["a","a",{"a":1},{"a":2}],"c":"a"}',
      '[{"a":1},{"a":1}]',
      '{"a":"{\\"b\\":1,\\"b\\":2}","b":"\\\\","c":"\\\\\\""}',
      '"a"',
      '["a","a"]',
    ]) {
      JSON.parse(text);
      assert.equal(jsonFault(text), undefined, text);
    }
  });

  it('leave invalid JSON to the parser', () => {
    for (const text of ['', '"', '{"a', '{"a\\', ']]]}', ',,,', '{"\\u12":1', "{'a':1,'a':2}"]) {
      assert.equal(jsonFault(text), undefined, text);
    }
  });

  it('stop at the first invalid key, because each costs an error', (test) => {
    const parsed = test.mock.method(JSON, 'parse');
    assert.equal(jsonFault(`{${'"\\q":1,'.repeat(900)}"a":1}`), undefined);
    assert.equal(parsed.mock.callCount(), 1);
  });

  it('repeat only the start of a long key, without half a character', () => {
    const cut = `${'k'.repeat(63)}🧶`;
    assert.equal(
      jsonFault(`{"${cut}":1,"${cut}":1}`)?.message,
      `Duplicate field \`${'k'.repeat(63)}\uFFFD\`.`,
    );
    const key = 'k'.repeat(100_000);
    assert.equal(jsonFault(`{"${key}":1,"${key}":1}`)?.message, `Duplicate field \`${'k'.repeat(64)}\`.`);
  });
});

describe('Large JSON bodies', () => {
  const headers = { 'content-type': 'application/json' };
  const payload = JSON.stringify({ text: 'x'.repeat(100_000) });
  let app: FastifyInstance;
  beforeEach(() => {
    app = fastify();
    acceptJsonBodies(app);
  });
  afterEach(() => app.close());
  const send = () => app.inject({ method: 'POST', url: '/', headers, payload });

  it('are parsed in one turn of the event loop each, so that other requests are answered in between', async () => {
    let turn = 0;
    let counting = setImmediate(function count() {
      turn += 1;
      counting = setImmediate(count);
    });
    const turns: number[] = [];
    app.post('/', async ({ body }) => {
      turns.push(turn);
      return body;
    });
    await app.ready();
    const responses = await Promise.all(Array.from({ length: 10 }, send));
    clearImmediate(counting);
    for (const { body } of responses) assert.equal(body, payload);
    assert.equal(new Set(turns).size, 10, `turns ${turns}`);
  });
});
