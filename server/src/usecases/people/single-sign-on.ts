import { openValue, sealValue } from '../../domain/cursor.ts';
import { normalizeEmail } from '../../domain/organization.ts';
import {
  type Identity,
  type IdentityProvider,
  type SignInChecks,
  SignInError,
} from '../../domain/sign-in.ts';
import type { Context } from '../context.ts';
import type { VisitorCall } from './passwords.ts';
import { type StartedSession, startSession } from './sessions.ts';

export const ssoTimeoutMs = 10 * 60 * 1000;
const sealedFor = 'single sign-on';
/** OpenID Connect Core §2. PostgreSQL cannot store NUL, or index a value of several kilobytes. */
const subjectForm = /^[\x20-\x7e]{1,255}$/;

interface StartedSignIn {
  readonly checks: SignInChecks;
  readonly returnTo: string;
}

/** Returns the provider's URL, and a sealed value for the browser to keep, valid for ten minutes. */
export async function beginSingleSignOn(
  { seal, now }: Context,
  provider: IdentityProvider,
  returnUrl: string,
  returnTo: string,
): Promise<{ url: string; sealed: string }> {
  const { url, checks } = await provider.begin(returnUrl);
  const signIn: StartedSignIn = { checks, returnTo };
  return { url, sealed: sealValue(seal, sealedFor, signIn, now() + ssoTimeoutMs) };
}

/** Starts a session for the person whom the provider names, if it has verified their address; else throws a `SignInError`. */
export async function finishSingleSignOn(
  call: VisitorCall,
  provider: IdentityProvider,
  { callback, sealed }: { callback: string; sealed: string | undefined },
): Promise<{ started: StartedSession; returnTo: string }> {
  const { context } = call;
  const signIn = openValue<StartedSignIn>(context.seal, sealedFor, sealed, context.now());
  if (signIn === undefined) throw new SignInError('expired', 'started too long ago, or in another browser');
  if (new URL(callback).searchParams.get('state') !== signIn.checks.state) {
    throw new SignInError('expired', 'the state does not match');
  }
  const identity = await provider.finish(callback, signIn.checks);
  return { started: await startFor(call, identity), returnTo: signIn.returnTo };
}

async function startFor(
  call: VisitorCall,
  { issuer, subject, email, emailVerified }: Identity,
): Promise<StartedSession> {
  const { context, traceId } = call;
  if (!subjectForm.test(subject))
    throw new SignInError('failed', 'the subject is not 1 to 255 ASCII characters');
  const address = normalizeEmail(email ?? '');
  if (address === undefined || !emailVerified) throw new SignInError('unverified', 'no verified address');
  const note = { id: context.ids.event(), traceId, action: 'password.voided', detail: {} } as const;
  const userId = await context.store.bindIdentity(issuer, subject, address, note);
  const started = userId && (await startSession(call, userId, null));
  if (started === undefined) throw new SignInError('unknown-person', 'no person here has this identity');
  return started;
}
