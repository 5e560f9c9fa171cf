import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { IdentityProvider, SignInError } from '../domain/sign-in.ts';
import { createIdentityProvider } from './single-sign-on.ts';

const clientSecret = 'the secret of the client, for tests';
const returnUrl = 'https://skein.example/console/sso/callback';
const profile = { sub: 'ada-1', email: 'ada@demo.example', email_verified: true };

/** Sends blanks until the connection is closed. */
const endless: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const blanks = Buffer.alloc(65_536, ' ');
  const fill = () => {
    while (response.write(blanks));
  };
  response.on('drain', fill);
  fill();
};

describe('A provider of single sign-on', () => {
  const server = createServer((request, response) => void answer(request, response));
  let keys: { privateKey: CryptoKey; publicKey: CryptoKey };
  let issuer: string;
  let provider: IdentityProvider;
  /** What the provider sends instead of its usual answers, by path. */
  let answers: Record<string, RequestListener>;
  let metadata: { userinfo_endpoint?: string } & Record<string, unknown>;
  let sign: (claims: JWTPayload) => string | Promise<string>;
  let nonce: string | null;

  before(async () => {
    keys = await generateKeyPair('RS256');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    answers = {};
    metadata = {};
    sign = signedBy(keys.privateKey);
    provider = createIdentityProvider({ issuer, clientId: 'skein', clientSecret, name: 'Acme' });
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const signedBy = (key: CryptoKey | Uint8Array, alg = 'RS256') => {
    return (claims: JWTPayload) => new SignJWT(claims).setProtectedHeader({ alg, kid: 'first' }).sign(key);
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const special = answers[path];
    if (special !== undefined) return special(request, response);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(await usual(path)));
  }

  async function usual(path: string): Promise<object> {
    if (path === '/jwks') return { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'first' }] };
    if (path === '/userinfo') return profile;
    if (path === '/token') {
      const iat = Math.floor(Date.now() / 1000);
      const who = metadata.userinfo_endpoint === undefined ? profile : { sub: profile.sub };
      const idToken = await sign({ iss: issuer, aud: 'skein', iat, exp: iat + 60, nonce, ...who });
      return { access_token: 'any', token_type: 'Bearer', id_token: idToken };
    }
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      ...metadata,
    };
  }

  async function signIn(callback = 'code=any') {
    const { url, checks } = await provider.begin(returnUrl);
    nonce = new URL(url).searchParams.get('nonce');
    return provider.finish(`${returnUrl}?state=${checks.state}&${callback}`, checks);
  }

  const failsWith = (fault: string, reason = /./) =>
    assert.rejects(signIn(), (error: SignInError) => {
      assert.deepEqual([error.name, error.problem], ['SignInError', fault]);
      return reason.test(error.message);
    });

  it('is believed if its key signed the token', async () => {
    const { sub: subject, email } = profile;
    assert.deepEqual(await signIn(), { issuer, subject, email, emailVerified: true });
  });

  it('is not believed if another key signed the token, or none', async () => {
    metadata = { id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'] };
    assert.equal((await signIn()).subject, profile.sub);
    const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const forged = [
      signedBy((await generateKeyPair('RS256')).privateKey),
      signedBy(new TextEncoder().encode(clientSecret), 'HS256'),
      (claims: JWTPayload) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`,
    ];
    for (sign of forged) await failsWith('failed');
  });

  it('may reveal the email address only when asked for it', async () => {
    metadata = { userinfo_endpoint: `${issuer}/userinfo` };
    assert.equal((await signIn()).email, profile.email);
  });

  it('may change its keys', async () => {
    await signIn();
    keys = await generateKeyPair('RS256');
    sign = signedBy(keys.privateKey);
    assert.equal((await signIn()).subject, profile.sub);
  });

  it('may send metadata without a URL to sign in at, and is then asked again', async () => {
    metadata = { authorization_endpoint: undefined };
    await failsWith('provider-unavailable');
    metadata = {};
    assert.equal((await signIn()).subject, profile.sub);
  });

  it('cannot keep us reading a response that never ends', async () => {
    metadata = { userinfo_endpoint: `${issuer}/userinfo` };
    for (const path of ['/.well-known/openid-configuration', '/jwks', '/token', '/userinfo']) {
      let closed: Promise<void> | undefined;
      answers = {
        [path](request, response) {
          closed = new Promise((resolve) => response.once('close', resolve));
          endless(request, response);
        },
      };
      await failsWith(path === '/.well-known/openid-configuration' ? 'provider-unavailable' : 'failed');
      assert.ok(closed, path);
      await closed;
    }
  });

  it('is reported as unavailable if a response stalls or breaks off in its body', async () => {
    const begun = (response: ServerResponse) =>
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"keys":');
    const stall: RequestListener = (_request, response) => void begun(response);
    const breakOff: RequestListener = (_request, response) => {
      begun(response);
      setImmediate(() => response.destroy());
    };
    const choice = { issuer, clientId: 'skein', clientSecret, name: 'Acme' };
    metadata = { userinfo_endpoint: `${issuer}/userinfo` };
    for (const path of ['/.well-known/openid-configuration', '/token', '/jwks', '/userinfo']) {
      provider = createIdentityProvider(choice, 0.3);
      answers = { [path]: stall };
      await failsWith('provider-unavailable', / TimeoutError$/);
      provider = createIdentityProvider(choice);
      answers = { [path]: breakOff };
      await failsWith('provider-unavailable', /OAUTH_PARSE_ERROR/);
      answers = {
        [path]: (_request, response) => response.setHeader('content-type', 'application/json').end('{'),
      };
      const fault = path === '/.well-known/openid-configuration' ? 'provider-unavailable' : 'failed';
      await failsWith(fault, /SyntaxError/);
    }
  });

  it('cannot redirect us to another URL', async () => {
    metadata = { userinfo_endpoint: `${issuer}/userinfo` };
    const places = ['/.well-known/openid-configuration', '/jwks', '/token', '/userinfo'];
    for (const path of places) {
      for (const location of ['file:///etc/passwd', `${issuer}/elsewhere`]) {
        let followed = false;
        answers = {
          [path]: (_request, response) => response.writeHead(302, { location }).end(),
          '/elsewhere': (_request, response) => {
            followed = true;
            response.end();
          },
        };
        await failsWith(path === places[0] ? 'provider-unavailable' : 'failed', /OAUTH_RESPONSE_IS_NOT/);
        assert.equal(followed, false, path);
      }
    }
  });

  it('whose clock differs from ours is reported as such', async () => {
    const honest = sign;
    const later = (seconds: number) => (claims: JWTPayload) =>
      honest({
        ...claims,
        iat: claims.iat! + seconds,
        nbf: claims.iat! + seconds,
        exp: claims.exp! + seconds,
      });
    for (const seconds of [-600, 600]) {
      sign = later(seconds);
      await failsWith('failed', /clock/);
    }
    sign = later(-20);
    assert.equal((await signIn()).subject, profile.sub, 'small differences are accepted');
  });

  it('is not asked for its metadata again because a sign-in was cancelled or its code is not known', async () => {
    let asked = 0;
    answers['/.well-known/openid-configuration'] = async (_request, response) => {
      asked += 1;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(await usual('')));
    };
    for (const _ of [1, 2, 3]) await assert.rejects(signIn('error=access_denied'));
    answers['/token'] = (_request, response) =>
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
    for (const _ of [1, 2, 3]) await failsWith('failed', /invalid_grant/);
    assert.equal(asked, 1);
  });

  it('has no text of the caller in the reason of a failure', async () => {
    for (const [error, reason] of [
      ['temporarily_unavailable', / temporarily_unavailable$/],
      ['my secret 5eak', /^\w+ \w+$/],
    ] as const) {
      await assert.rejects(signIn(`error=${encodeURIComponent(error)}`), { message: reason });
    }
  });
});
