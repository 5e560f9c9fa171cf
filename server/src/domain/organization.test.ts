import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalizeEmail } from './organization.ts';

test('normalizes case and surrounding space', () => {
  assert.equal(normalizeEmail(' Ada@Acme.Example '), 'ada@acme.example');
  assert.equal(normalizeEmail('ÅSA@acme.example'), 'åsa@acme.example');
});

test('never turns a non-ASCII address into an ASCII one', () => {
  assert.equal(normalizeEmail('\u212Aim@acme.example'), undefined);
  for (let unit = 0x80; unit <= 0xffff; unit += 1) {
    const email = normalizeEmail(`a${String.fromCharCode(unit)}@acme.example`);
    assert.ok(email === undefined || /[^\x20-\x7e]/.test(email), unit.toString(16));
  }
});

test('rejects a domain in letters or dots that an email program replaces', () => {
  for (const domain of ['ｅxample.org', 'example。org', 'example．org', 'example｡org', 'ⓔxample.org'])
    assert.equal(normalizeEmail(`ada@${domain}`), undefined, domain);
  assert.equal(normalizeEmail('ada@bücher.example'), 'ada@bücher.example');
});

test('rejects text that is not an address', () => {
  for (const text of [
    '',
    'ada',
    'ada@',
    '@acme',
    'a da@acme',
    'a@b@c',
    'a\u001b[2J@acme.example',
    'a\u200B@acme.example',
    `${'a'.repeat(250)}@acme`,
  ]) {
    assert.equal(normalizeEmail(text), undefined, text);
  }
});
