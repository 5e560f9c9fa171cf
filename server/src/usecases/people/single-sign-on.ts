import { openValue, sealValue } from '../../domain/cursor.ts';
import { normalizeEmail } from '../../domain/organization.ts';
import {
  type Identity,
  type IdentityProvider,
  ProviderError,
  type SignInChecks,
  type SignInProblem,
} from '../../domain/sign-in.ts';
import type { Context } from '../context.ts';
import type { VisitorCall } from './passwords.ts';
import { type StartedSession, startSession } from './sessions.ts';

type SsoOutcome =
  | { readonly outcome: 'signed-in'; readonly started: StartedSession; readonly returnTo: string }
  | { readonly outcome: 'refused'; readonly problem: SignInProblem; readonly reason: string };

export const ssoTimeoutMs = 10 * 60 * 1000;
const sealedFor = 'single sign-on';

interface StartedSignIn {
  readonly checks: SignInChecks;
  readonly returnTo: string;
}

/** Returns the provider's address, and a sealed value for the browser to keep, valid for ten minutes. */
export async function beginSingleSignOn(
  { seal, now }: Context,
  provider: IdentityProvider,
  returnAddress: string,
  returnTo: string,
): Promise<{ address: string; sealed: string }> {
  const { address, checks } = await provider.begin(returnAddress);
  const signIn: StartedSignIn = { checks, returnTo };
  return { address, sealed: sealValue(seal, sealedFor, signIn, now() + ssoTimeoutMs) };
}

/** Starts a session for the person whom the provider names, if the provider has verified their address. */
export async function finishSingleSignOn(
  call: VisitorCall,
  provider: IdentityProvider,
  { callback, sealed }: { callback: string; sealed: string | undefined },
): Promise<SsoOutcome> {
  const { context } = call;
  const signIn = openValue<StartedSignIn>(context.seal, sealedFor, sealed, context.now());
  if (signIn === undefined) return refused('expired', 'started too long ago, or in another browser');
  if (new URL(callback).searchParams.get('state') !== signIn.checks.state) {
    return refused('expired', 'the state does not match');
  }
  try {
    const identity = await provider.finish(callback, signIn.checks);
    return await startFor(call, identity, signIn.returnTo);
  } catch (error) {
    if (error instanceof ProviderError) return refused(error.fault, error.message);
    throw error;
  }
}

async function startFor(
  call: VisitorCall,
  { issuer, subject, email, emailVerified }: Identity,
  returnTo: string,
): Promise<SsoOutcome> {
  const { context, traceId } = call;
  const address = normalizeEmail(email ?? '');
  if (address === undefined || !emailVerified) return refused('unverified', 'no verified address');
  const note = { id: context.ids.event(), traceId, action: 'password.voided', detail: {} } as const;
  const person = await context.store.bindIdentity(issuer, subject, address, note);
  const started = person && (await startSession(call, person.userId, null));
  if (started === undefined) return refused('unknown-person', 'no person here has this identity');
  return { outcome: 'signed-in', started, returnTo };
}

function refused(problem: SignInProblem, reason: string): SsoOutcome {
  return { outcome: 'refused', problem, reason };
}
