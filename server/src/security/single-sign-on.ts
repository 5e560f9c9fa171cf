import type { Configuration, CustomFetch, IDToken, UserInfoResponse } from 'openid-client';
import type { SsoChoice } from '../config/config.ts';
import { type IdentityProvider, SignInError, type SignInProblem } from '../domain/sign-in.ts';

type OpenId = typeof import('openid-client');

const scope = 'openid email';
/** Providers send a few kilobytes. One that never stops would otherwise fill the memory until the timeout. */
const answerBytesMax = 1_000_000;
const clockHint = "this machine's clock differs from the provider's by more than 30 s: correct it";

/**
 * An OpenID provider: authorization code with PKCE, state and nonce (OpenID Connect Core §3.1, RFC 7636). It is
 * discovered on first use, and again after every sign-in and after every failure that it does not report itself: a provider
 * that is down affects nothing else, and its endpoints and keys may change.
 */
export function createIdentityProvider(choice: SsoChoice, timeoutSeconds = 10): IdentityProvider {
  let discovered: Promise<{ openId: OpenId; configuration: Configuration }> | undefined;
  const provider = () => {
    discovered ??= discover(choice, timeoutSeconds).catch((error) => {
      discovered = undefined;
      throw new SignInError('provider-unavailable', describeReason(error));
    });
    return discovered;
  };

  return {
    name: choice.name,
    async begin(returnUrl) {
      const { openId, configuration } = await provider();
      const checks = {
        state: openId.randomState(),
        nonce: openId.randomNonce(),
        codeVerifier: openId.randomPKCECodeVerifier(),
      };
      const url = openId.buildAuthorizationUrl(configuration, {
        redirect_uri: returnUrl,
        scope,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await openId.calculatePKCECodeChallenge(checks.codeVerifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, checks };
    },

    async finish(callback, { state, nonce, codeVerifier }) {
      const { openId, configuration } = await provider();
      try {
        const tokens = await openId.authorizationCodeGrant(configuration, new URL(callback), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims() as IDToken;
        // Providers may return the address only from the userinfo endpoint (OpenID Connect Core §5.4).
        const profile: IDToken | UserInfoResponse =
          claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
            ? await openId.fetchUserInfo(configuration, tokens.access_token, claims.sub)
            : claims;
        // The library keeps the keys for at least a minute, and the provider may change them before the next sign-in.
        discovered = undefined;
        return {
          issuer: claims.iss,
          subject: claims.sub,
          email: typeof profile.email === 'string' ? profile.email : undefined,
          emailVerified: profile.email_verified === true,
        };
      } catch (error) {
        // Errors that the provider reports say nothing about its keys, and anybody can cause one.
        if (!isReported(error)) discovered = undefined;
        throw new SignInError(classifyFault(error), describeReason(error));
      }
    },
  };
}

async function discover({ issuer, clientId, clientSecret }: SsoChoice, timeout: number) {
  // Loaded on use: most services have no provider.
  const openId = await import('openid-client');
  const configuration = await openId.discovery(
    new URL(issuer),
    clientId,
    clientSecret,
    openId.ClientSecretBasic(clientSecret),
    {
      timeout,
      [openId.customFetch]: boundedFetch,
      execute: [
        // Without it, the library trusts the connection and does not verify the signature of the ID token.
        openId.enableNonRepudiationChecks,
        // The configuration has checked that such an issuer is on this machine.
        ...(issuer.startsWith('http:') ? [openId.allowInsecureRequests] : []),
      ],
    },
  );
  // Throws if there is no authorization endpoint, so that such metadata is not cached.
  openId.buildAuthorizationUrl(configuration, {});
  return { openId, configuration };
}

const boundedFetch: CustomFetch = async (url, init) => {
  const response = await fetch(url, init as RequestInit);
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > answerBytesMax) controller.error(new Error('The answer is too long.'));
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(limit) ?? null, response);
};

function isReported(error: unknown): boolean {
  return /^OAUTH_(AUTHORIZATION_RESPONSE|RESPONSE_BODY)_ERROR$/.test(
    String((error as { code?: unknown }).code),
  );
}

function classifyFault(error: unknown): SignInProblem {
  if ((error as Record<string, unknown>).error === 'access_denied') return 'cancelled';
  // It may be the cause of another error: if a body stalls or breaks off, the library reports a response that is not JSON.
  const isUnreachable = listCauses(error).some(
    ({ name, code, cause }) =>
      name === 'TimeoutError' || (name === 'TypeError' && code === undefined && cause !== undefined),
  );
  return isUnreachable ? 'provider-unavailable' : 'failed';
}

/** The error, its cause, the cause of that, and so on. */
function listCauses(error: unknown): Record<string, unknown>[] {
  return error instanceof Error ? [error as never, ...listCauses(error.cause)] : [];
}

/**
 * Names and codes only: an error message may contain a token. The caller chooses `error` in the URL of the callback,
 * so it is left out unless it has the form of a code (RFC 6749 §4.1.2.1).
 */
function describeReason(error: unknown): string {
  const { error: given } = error as Record<string, unknown>;
  const named = listCauses(error).flatMap(({ name, code }) => [name, code]);
  if (typeof given === 'string' && /^[a-z_]{1,40}$/.test(given)) named.push(given);
  const words = new Set(named.filter((word) => typeof word === 'string'));
  const hint = words.has('OAUTH_JWT_TIMESTAMP_CHECK_FAILED') ? `: ${clockHint}` : '';
  return [...words].join(' ') + hint;
}
