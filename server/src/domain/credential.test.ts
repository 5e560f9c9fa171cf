import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { apiKeyHint, generateApiKey, generateClientSecret, isWellFormedApiKey } from './credential.ts';

describe('An API key', () => {
  const key = generateApiKey(randomBytes, crc32);

  it('has its prefix, more than 160 random bits in base 62 and a checksum', () => {
    assert.match(key, /^eak_[0-9A-Za-z]{36}$/);
    assert.ok(30 * Math.log2(62) >= 160);
    assert.ok(isWellFormedApiKey(key, crc32));
    assert.notEqual(generateApiKey(randomBytes, crc32), key);
  });

  it('draws every character with the same probability', () => {
    const drawn = generateApiKey(
      (size) => Uint8Array.from({ length: size }, (_, index) => 226 + index),
      crc32,
    );
    // Bytes 226 to 247 are used. Bytes 248 to 255 are not, because they would favor the first characters.
    assert.equal(drawn.slice(26, 34), drawn.slice(4, 12));
  });

  it('is recognized as damaged when any character is changed, missing or added', () => {
    for (let index = 0; index < key.length; index += 1) {
      const other = key[index] === 'A' ? 'B' : 'A';
      const damaged = [
        key.slice(0, index) + other + key.slice(index + 1),
        key.slice(0, index) + key.slice(index + 1),
        key.slice(0, index) + other + key.slice(index),
      ];
      for (const text of damaged) assert.ok(!isWellFormedApiKey(text, crc32), text);
    }
    assert.ok(!isWellFormedApiKey(`${key}\n`, crc32));
  });

  it('is listed by its first and last four characters only', () => {
    assert.equal(apiKeyHint('eak_abcdefghijklmnopqrstuvwxyz'), 'eak_abcd…wxyz');
  });
});

describe('A client secret', () => {
  const secret = generateClientSecret(randomBytes, crc32);

  it('has its prefix, as many random characters as a key, and a checksum', () => {
    assert.match(secret, /^eas_[0-9A-Za-z]{36}$/);
    assert.notEqual(generateClientSecret(randomBytes, crc32), secret);
    const zeros = generateClientSecret((size) => new Uint8Array(size), crc32);
    assert.equal(zeros.slice(0, -6), `eas_${'0'.repeat(30)}`);
    // Computes what a scanner for leaked secrets would: CRC-32 of everything before the checksum, in base 62.
    let checksum = 0;
    for (const character of zeros.slice(-6)) checksum = checksum * 62 + base62.indexOf(character);
    assert.equal(checksum, crc32(zeros.slice(0, -6)));
  });

  it('is never accepted as an API key', () => {
    assert.ok(!isWellFormedApiKey(secret, crc32));
    assert.ok(!isWellFormedApiKey(secret.replace('eas_', 'eak_'), crc32));
  });
});

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
