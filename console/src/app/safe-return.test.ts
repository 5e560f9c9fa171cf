import assert from 'node:assert/strict';
import { test } from 'node:test';
import { safeReturn } from './safe-return.ts';

test('returns to the previous page, with its query', () => {
  assert.equal(safeReturn('/threads/thr_1'), '/threads/thr_1');
  assert.equal(safeReturn('/?search=a%20b#c'), '/?search=a%20b#c');
});

test('rejects every other URL', () => {
  const elsewhere = [
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    'https://evil.example',
    'x',
    '',
    '//',
  ];
  for (const path of [...elsewhere, undefined, 7]) assert.equal(safeReturn(path), undefined, String(path));
});
