import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export type Claims = Record<string, unknown>;

/** The service's signing key, in the hands of an attacker. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly publicJwk: JsonWebKey;
}

/** Reads the current signing key from the store of a service in this folder. */
export function stealSigningKey(folder: string): SigningKey {
  const database = new DatabaseSync(join(folder, 'data/skein.db'), { readOnly: true });
  const row = database.prepare('SELECT id, private_jwk FROM signing_key WHERE retired_at IS NULL').get();
  database.close();
  assert.ok(row, 'the service has made its key');
  const jwk = JSON.parse(row.private_jwk as string) as JsonWebKey;
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  const publicKey = createPublicKey(privateKey);
  return { kid: row.id as string, privateKey, publicKey, publicJwk: publicKey.export({ format: 'jwk' }) };
}

/** The header of every token that the service issues. */
export function headerFor({ kid }: Pick<SigningKey, 'kid'>): Claims {
  return { alg: 'ES256', typ: 'at+jwt', kid };
}

/** Encodes a value as JSON, or a text unchanged, in base64url. */
export function encoded(part: unknown): string {
  const text = typeof part === 'string' || part instanceof Uint8Array ? part : JSON.stringify(part);
  return Buffer.from(text as string).toString('base64url');
}

export function signES256(
  input: string,
  key: KeyObject,
  dsaEncoding: 'ieee-p1363' | 'der' = 'ieee-p1363',
): Buffer {
  return sign('sha256', Buffer.from(input), { key, dsaEncoding });
}

/** Creates a token from these parts, signed with ES256 whatever its header claims. */
export function mint(header: unknown, payload: unknown, key: KeyObject): string {
  const input = `${encoded(header)}.${encoded(payload)}`;
  return `${input}.${encoded(signES256(input, key))}`;
}

export function decodeClaims(token: string): Claims {
  return JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());
}
