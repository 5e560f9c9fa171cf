import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import {
  CompactSign,
  calculateJwkThumbprint,
  createLocalJWKSet,
  decodeJwt,
  importJWK,
  type JWK,
  jwtVerify,
} from 'jose';
import { note } from '../../testing/contract/fixture.ts';
import type { AccessClaims, AccessTokens } from '../domain/credential.ts';
import type { ApplicationId, OrganizationId } from '../domain/id.ts';
import type { Store } from '../storage/port/store.ts';
import { openSqliteStore } from '../storage/sqlite/open.ts';
import { createAccessTokens, type TokenUrls } from './access-tokens.ts';

const claims: AccessClaims = {
  applicationId: 'app_1' as ApplicationId,
  organizationId: 'org_1' as OrganizationId,
  epoch: 7,
};
const startMs = Date.UTC(2026, 10, 15, 12);
const startSeconds = startMs / 1000;

let folder: string;
let nowMs: number;
let stores: Store[];
let store: Store;
let tokens: AccessTokens;

/** Called in each suite. Hooks outside of them would run for the tests of all files of the process. */
function useFreshStores(): void {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'skein-tokens-'));
    nowMs = startMs;
    stores = [];
    store = openStore();
    tokens = node();
  });
  afterEach(async () => {
    for (const opened of stores) await opened.close();
    rmSync(folder, { recursive: true });
  });
}

function openStore(file = 'skein.db'): Store {
  const clock = { wall: () => nowMs, steady: () => nowMs };
  const opened = openSqliteStore(join(folder, file), clock);
  stores.push(opened);
  return opened;
}

async function rotateKey(forget: boolean): Promise<string> {
  const next = tokens.newKey();
  await store.rotateSigningKey(next, forget, note());
  return next.id;
}

const unnamed: TokenUrls = {
  issuer: () => 'https://skein.example',
  audience: () => 'https://skein.example/api/v1',
  named: { issuer: false, audience: false },
};

/** Another process: it has its own store connection, cache and clock. */
function node(options: { urls?: TokenUrls; aheadMs?: number; rememberedMax?: number } = {}): AccessTokens {
  const { urls = unnamed, aheadMs = 0, rememberedMax } = options;
  return createAccessTokens(openStore(), urls, () => nowMs + aheadMs, randomUUID, rememberedMax);
}

describe('An access token', () => {
  useFreshStores();

  it('is accepted repeatedly and on every node', async () => {
    const token = await tokens.issue(claims);
    for (const reader of [tokens, node()]) {
      assert.deepEqual(await reader.read(token), claims);
      assert.deepEqual(await reader.read(token), claims);
    }
  });

  it('has the claims of RFC 9068 and a unique id', async () => {
    const { jti, ...payload } = decodeJwt(await tokens.issue(claims));
    assert.deepEqual(payload, {
      iss: 'https://skein.example',
      aud: 'https://skein.example/api/v1',
      sub: 'app_1',
      client_id: 'app_1',
      iat: startSeconds,
      exp: startSeconds + 3600,
      scope: 'threads:read',
      org_id: 'org_1',
      epoch: 7,
    });
    assert.notEqual(decodeJwt(await tokens.issue(claims)).jti, jti);
  });

  it('expires after an hour, whether cached or not', async () => {
    const token = await tokens.issue(claims);
    nowMs += 3_600_000 - 1;
    assert.deepEqual(await tokens.read(token), claims);
    nowMs += 1;
    assert.equal(await tokens.read(token), undefined);
    assert.equal(await node().read(token), undefined);
    // Expired tokens are not cached either.
    assert.equal(await tokens.read(token), undefined);
  });

  it('is accepted by a node whose clock is a few seconds behind, but not by one that is far off', async () => {
    const token = await tokens.issue(claims);
    assert.deepEqual(await node({ aheadMs: -5000 }).read(token), claims);
    assert.equal(await node({ aheadMs: -6000 }).read(token), undefined);
    assert.equal(await node({ aheadMs: 3_600_000 }).read(token), undefined);
  });

  it('is rejected by another service, which has other keys', async () => {
    const token = await tokens.issue(claims);
    const others = createAccessTokens(openStore('elsewhere.db'), unnamed, () => nowMs, randomUUID);
    assert.deepEqual(await others.read(await others.issue(claims)), claims);
    assert.equal(await others.read(token), undefined);
  });

  it('is checked for its issuer and audience only if the operator configured them', async () => {
    const token = await tokens.issue(claims);
    const moved = (named: TokenUrls['named'], change: Partial<TokenUrls> = {}) =>
      node({ urls: { ...unnamed, ...change, named } });
    const both = { issuer: true, audience: true };
    const issuer = () => 'https://auth.example';
    const audience = () => 'https://elsewhere.example/api/v1';
    assert.deepEqual(await moved(both).read(token), claims);
    assert.deepEqual(await moved(unnamed.named, { issuer, audience }).read(token), claims);
    assert.equal(await moved(both, { issuer }).read(token), undefined);
    assert.equal(await moved(both, { audience }).read(token), undefined);
    assert.deepEqual(await moved({ issuer: false, audience: true }, { issuer }).read(token), claims);
    assert.deepEqual(await moved({ issuer: true, audience: false }, { audience }).read(token), claims);
  });
});

describe('A signing key', () => {
  useFreshStores();

  it('is shared by nodes that start at the same time', async () => {
    const nodes = [tokens, node(), node()];
    const issued = await Promise.all(nodes.map((one) => one.issue(claims)));
    for (const token of issued) for (const one of nodes) assert.deepEqual(await one.read(token), claims);
    assert.equal((await store.listSigningKeys(1000)).length, 1);
  });

  it('verifies tokens for an hour after it was replaced, and signs no new ones', async () => {
    const old = await tokens.issue(claims);
    nowMs += 1000;
    const keyId = await rotateKey(false);
    const next = await tokens.issue(claims);
    assert.equal(kidOf(next), keyId);
    assert.notEqual(kidOf(old), keyId);
    nowMs += 3_598_000;
    for (const one of [tokens, node()]) {
      assert.deepEqual(await one.read(old), claims);
      assert.deepEqual(await one.read(next), claims);
    }
    assert.equal((await tokens.keySet()).keys.length, 2);
    nowMs += 62_000;
    assert.equal((await tokens.keySet()).keys.length, 1);
  });

  it('verifies nothing on any node once one node has dropped it', async () => {
    const reader = node();
    assert.deepEqual(await reader.read(await tokens.issue(claims)), claims);
    const unread = await tokens.issue(claims);
    await rotateKey(true);
    assert.equal(await reader.read(unread), undefined);
    assert.deepEqual(await reader.read(await tokens.issue(claims)), claims);
  });

  it('is published without its private part, in the standard format', async () => {
    const token = await tokens.issue(claims);
    await rotateKey(false);
    const { keys } = await tokens.keySet();
    assert.equal(keys.length, 2);
    for (const key of keys) {
      assert.deepEqual(Object.keys(key), ['kty', 'crv', 'x', 'y', 'kid', 'alg', 'use']);
      assert.equal((key as JWK).kid, await calculateJwkThumbprint(key as JWK));
    }
    for (const { privateJwk } of await store.listSigningKeys(1000)) {
      const { d } = JSON.parse(privateJwk);
      assert.ok(d.length > 40);
      assert.ok(!JSON.stringify(keys).includes(d));
    }
    const keySet = createLocalJWKSet({ keys: keys as JWK[] });
    const { payload } = await jwtVerify(token, keySet, { currentDate: new Date(nowMs) });
    assert.equal(payload.sub, 'app_1');
  });

  it('is created on the first request for the keys, before any token', async () => {
    assert.equal((await tokens.keySet()).keys.length, 1);
  });
});

describe('Cached tokens', () => {
  useFreshStores();

  // A dropped key shows which tokens are cached, because a cached token is not verified again.
  it('are the most recently used ones, up to a limit', async () => {
    const reader = node({ rememberedMax: 2 });
    const [first, second, third] = [await issue(), await issue(), await issue()];
    for (const token of [first, second, first, third]) assert.deepEqual(await reader.read(token), claims);
    await rotateKey(true);
    assert.equal(await reader.read(second), undefined);
    assert.deepEqual(await reader.read(first), claims);
    assert.deepEqual(await reader.read(third), claims);
  });

  it('are not evicted by foreign tokens', async () => {
    const reader = node({ rememberedMax: 1 });
    const token = await issue();
    assert.deepEqual(await reader.read(token), claims);
    const damaged = `${token.slice(0, -10)}AAAAAAAAAA`;
    for (const text of [damaged, 'a.b.c', '']) assert.equal(await reader.read(text), undefined);
    await rotateKey(true);
    assert.deepEqual(await reader.read(token), claims);
  });

  const issue = () => tokens.issue(claims);
});

describe('A token that was signed with our key', () => {
  useFreshStores();

  it('is accepted in exactly the form that we issue', async () => {
    assert.deepEqual(await node().read(await signed()), claims);
  });

  it('is rejected when its header is not byte for byte the one that we issue', async () => {
    const kid = kidOf(await signed());
    for (const header of [
      { typ: 'at+jwt', alg: 'ES256', kid },
      { alg: 'ES256', typ: 'JWT', kid },
      { alg: 'ES256', typ: 'application/at+jwt', kid },
      { alg: 'ES256', kid },
      { alg: 'ES256', typ: 'at+jwt' },
      { alg: 'ES256', typ: 'at+jwt', kid: 'another' },
      { alg: 'ES256', typ: 'at+jwt', kid, jku: 'https://evil.example/jwks.json' },
      { alg: 'ES256', typ: 'at+jwt', kid, jwk: { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' } },
    ]) {
      assert.equal(await node().read(await signed({ header })), undefined, JSON.stringify(header));
    }
  });

  it('is rejected when a claim is missing or has another type', async () => {
    for (const name of ['iss', 'aud', 'sub', 'client_id', 'iat', 'exp', 'jti', 'org_id', 'epoch']) {
      const { [name]: _, ...rest } = payload();
      assert.equal(await node().read(await signed({ text: JSON.stringify(rest) })), undefined, name);
    }
    for (const change of [
      { sub: 'app_2' },
      { client_id: 'app_2' },
      { sub: 1, client_id: 1 },
      { org_id: 1 },
      { epoch: '7' },
      { epoch: 7.5 },
      { epoch: null },
      { exp: String(startSeconds + 3600) },
      { exp: startSeconds - 1 },
      { iat: startSeconds - 3600 - 6, exp: startSeconds + 60 },
      { iat: startSeconds + 60 },
      { nbf: startSeconds + 60 },
    ]) {
      const text = JSON.stringify({ ...payload(), ...change });
      assert.equal(await node().read(await signed({ text })), undefined, JSON.stringify(change));
    }
  });

  it('is rejected when its payload is ambiguous', async () => {
    const text = JSON.stringify(payload());
    for (const otherwise of [
      text.replace('"epoch":7', '"epoch":6,"epoch":7'),
      text.replace('"epoch":7', '"epoch":7.0'),
      text.replace('"epoch":7', '"epoch":7e0'),
      text.replace('"epoch":7', '"epoch": 7'),
      text.replace('"sub"', '"\\u0073ub"'),
      `${text}\n`,
      `\ufeff${text}`,
      `[${text}]`,
      'null',
      '',
    ]) {
      assert.notEqual(otherwise, text);
      assert.equal(await node().read(await signed({ text: otherwise })), undefined, otherwise);
    }
  });
});

describe('A text that is nearly an access token', () => {
  useFreshStores();

  it('is rejected when any one of its characters is changed, missing or doubled', async () => {
    const token = await tokens.issue(claims);
    const reader = node();
    assert.deepEqual(await reader.read(token), claims);
    for (let index = 0; index < token.length; index += 1) {
      const [before, after] = [token.slice(0, index), token.slice(index + 1)];
      const other = token[index] === 'A' ? 'B' : 'A';
      for (const text of [
        before + other + after,
        before + after,
        before + token[index] + token.slice(index),
      ]) {
        // Skip texts that happen to equal the token.
        if (text !== token) assert.equal(await reader.read(text), undefined, text);
      }
    }
  });

  it('is rejected in every other encoding of the same bytes', async () => {
    const token = await tokens.issue(claims);
    const last = token.at(-1) as string;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const sameBytes = [...alphabet].filter(
      (character) => character !== last && alphabet.indexOf(character) >> 4 === alphabet.indexOf(last) >> 4,
    );
    assert.equal(sameBytes.length, 15);
    const endings = [
      ...sameBytes.map((character) => token.slice(0, -1) + character),
      `${token}==`,
      `${token}\n`,
    ];
    for (const text of [...endings, ` ${token}`, `${token}.`, `${token}.e30`, `.${token}`]) {
      assert.equal(await node().read(text), undefined, text);
    }
  });

  it('is rejected without a signature, or when it is signed with the public key as an HMAC secret', async () => {
    const token = await tokens.issue(claims);
    const [header = '', body = ''] = token.split('.');
    const [publicKey] = (await tokens.keySet()).keys as [JWK];
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
    const confused = await new CompactSign(Buffer.from(body, 'base64url'))
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: kidOf(token) })
      .sign(Buffer.from(JSON.stringify(publicKey).padEnd(32)));
    for (const text of [
      `${none}.${body}.`,
      `${header}.${body}.`,
      `${header}.${body}`,
      header,
      confused,
      '..',
    ]) {
      assert.equal(await node().read(text), undefined, text);
    }
  });

  it('is rejected when it is longer than any of ours', async () => {
    const long = async (length: number) => {
      const text = JSON.stringify({ ...payload(), scope: 'x'.repeat(length) });
      return signed({ text });
    };
    const [short, tooLong] = [await long(2000), await long(3000)];
    assert.ok(short.length < 4096 && tooLong.length > 4096);
    assert.deepEqual(await node().read(short), claims);
    assert.equal(await node().read(tooLong), undefined);
  });
});

function kidOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[0] as string, 'base64url').toString()).kid;
}

function payload(): Record<string, unknown> {
  return {
    iss: 'https://skein.example',
    aud: 'https://skein.example/api/v1',
    sub: 'app_1',
    client_id: 'app_1',
    iat: startSeconds,
    exp: startSeconds + 3600,
    jti: randomUUID(),
    scope: 'threads:read',
    org_id: 'org_1',
    epoch: 7,
  };
}

/** A token signed with the service's key, as an attacker could create if they got the service to sign it. */
async function signed({
  header,
  text = JSON.stringify(payload()),
}: {
  header?: { alg: string };
  text?: string;
} = {}): Promise<string> {
  await tokens.keySet();
  const { id, privateJwk } = (await store.listSigningKeys(0))[0]!;
  return new CompactSign(Buffer.from(text))
    .setProtectedHeader(header ?? { alg: 'ES256', typ: 'at+jwt', kid: id })
    .sign(await importJWK(JSON.parse(privateJwk), 'ES256'));
}
