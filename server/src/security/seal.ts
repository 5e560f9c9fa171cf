import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto';
import { orUndefined } from '../../../runtime/src/pure/or-undefined.ts';
import type { Seal } from '../domain/cursor.ts';

const algorithm = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

/**
 * Authenticated encryption with a key from the store: a cursor works on any node and after a restart. A changed cursor, or
 * one from another listing, does not open.
 */
export function createSeal(keyBytes: Uint8Array): Seal {
  // Created once: a new key object for every cursor would cost more than sealing it.
  const key = createSecretKey(keyBytes);
  return {
    seal(listing, plaintext) {
      const nonce = randomBytes(nonceLength);
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(listing));
      return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]).toString(
        'base64url',
      );
    },

    open(listing, sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      // Decoding ignores invalid characters and extra bits, so accept only the canonical spelling.
      if (bytes.length <= nonceLength + tagLength || bytes.toString('base64url') !== sealed) return undefined;
      const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceLength), {
        authTagLength: tagLength,
      })
        .setAAD(Buffer.from(listing))
        .setAuthTag(bytes.subarray(-tagLength));
      const sealedBytes = bytes.subarray(nonceLength, -tagLength);
      return orUndefined(() => decipher.update(sealedBytes, undefined, 'utf8') + decipher.final('utf8'));
    },
  };
}
