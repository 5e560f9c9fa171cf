import { openValue, type Seal, sealValue } from '../../domain/cursor.ts';
import type { IdGenerator } from '../../domain/id.ts';
import { normalizeEmail } from '../../domain/organization.ts';
import {
  type Identity,
  type IdentityProvider,
  type SignInChecks,
  SignInError,
} from '../../domain/sign-in.ts';
import type { Store } from '../../storage/port/store.ts';
import type { Sessions, StartedSession } from './sessions.ts';

export const ssoTimeoutMs = 10 * 60 * 1000;
const sealedFor = 'single sign-on';
/** OpenID Connect Core §2. PostgreSQL cannot store NUL, or index a value of several kilobytes. */
const subjectForm = /^[\x20-\x7e]{1,255}$/;

interface StartedSignIn {
  readonly checks: SignInChecks;
  readonly returnTo: string;
}

interface SingleSignOnNeeds {
  readonly provider: IdentityProvider;
  readonly store: Pick<Store, 'bindIdentity'>;
  readonly ids: Pick<IdGenerator, 'event'>;
  readonly seal: Seal;
  readonly now: () => number;
  readonly sessions: Pick<Sessions, 'start'>;
}

export type SingleSignOn = ReturnType<typeof createSingleSignOn>;

/** Signing in through a provider. */
export function createSingleSignOn({ provider, store, ids, seal, now, sessions }: SingleSignOnNeeds) {
  return { name: provider.name, begin, finish };

  /** Returns the provider's URL, and a sealed value for the browser to keep, valid for ten minutes. */
  async function begin(returnUrl: string, returnTo: string): Promise<{ url: string; sealed: string }> {
    const { url, checks } = await provider.begin(returnUrl);
    const signIn: StartedSignIn = { checks, returnTo };
    return { url, sealed: sealValue(seal, sealedFor, signIn, now() + ssoTimeoutMs) };
  }

  /** Starts a session for the person whom the provider names, if it has verified their address; else throws a `SignInError`. */
  async function finish(
    { callback, sealed }: { callback: string; sealed: string | undefined },
    traceId: string,
  ): Promise<{ started: StartedSession; returnTo: string }> {
    const signIn = openValue<StartedSignIn>(seal, sealedFor, sealed, now());
    if (signIn === undefined) throw new SignInError('expired', 'started too long ago, or in another browser');
    if (new URL(callback).searchParams.get('state') !== signIn.checks.state) {
      throw new SignInError('expired', 'the state does not match');
    }
    const identity = await provider.finish(callback, signIn.checks);
    return { started: await startFor(identity, traceId), returnTo: signIn.returnTo };
  }

  async function startFor(
    { issuer, subject, email, emailVerified }: Identity,
    traceId: string,
  ): Promise<StartedSession> {
    if (!subjectForm.test(subject))
      throw new SignInError('failed', 'the subject is not 1 to 255 ASCII characters');
    const address = normalizeEmail(email ?? '');
    if (address === undefined || !emailVerified) throw new SignInError('unverified', 'no verified address');
    const note = { id: ids.event(), traceId, action: 'password.voided', detail: {} } as const;
    const userId = await store.bindIdentity(issuer, subject, address, note);
    const started = userId && (await sessions.start(userId, null, traceId));
    if (started === undefined) throw new SignInError('unknown-person', 'no person here has this identity');
    return started;
  }
}
