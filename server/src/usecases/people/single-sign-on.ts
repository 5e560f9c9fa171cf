import {
  type Identity,
  type IdentityProvider,
  ProviderError,
  type ProviderFault,
  type SignInChecks,
} from '../../domain/identity-provider.ts';
import { normalizeEmail } from '../../domain/organization.ts';
import type { Context } from '../context.ts';
import { type StartedSession, startSession } from './start-session.ts';

/** Why nobody was signed in. `expired`: begun too long ago, or not by this browser. */
export type SsoProblem = ProviderFault | 'expired' | 'unverified' | 'unknown-person';

export type SsoOutcome =
  | { readonly outcome: 'signed-in'; readonly started: StartedSession; readonly returnTo: string }
  /** `reason` is for the log. */
  | { readonly outcome: 'refused'; readonly problem: SsoProblem; readonly reason: string };

export const ssoTimeoutMs = 10 * 60 * 1000;
const sealedFor = 'single sign-on';
const bySso = { proof: 'sso', passwordHash: null } as const;

interface Begun {
  readonly checks: SignInChecks;
  readonly returnTo: string;
  readonly until: number;
}

/** Where to send the person, and what their browser has to keep meanwhile: sealed, and good for ten minutes. */
export async function beginSingleSignOn(
  { seal, now }: Context,
  provider: IdentityProvider,
  returnAddress: string,
  returnTo: string,
): Promise<{ address: string; sealed: string }> {
  const { address, checks } = await provider.begin(returnAddress);
  const begun: Begun = { checks, returnTo, until: now() + ssoTimeoutMs };
  return { address, sealed: seal.seal(sealedFor, JSON.stringify(begun)) };
}

/** A session for the person whom the provider names, if its word for their address can be relied on. */
export async function finishSingleSignOn(
  context: Context,
  provider: IdentityProvider,
  { callback, sealed }: { callback: string; sealed: string | undefined },
  traceId: string,
): Promise<SsoOutcome> {
  const begun = openBegun(context, sealed);
  if (begun === undefined) return refused('expired', 'begun too long ago, or elsewhere');
  if (new URL(callback).searchParams.get('state') !== begun.checks.state) {
    return refused('expired', 'another state than the one begun with');
  }
  try {
    const identity = await provider.finish(callback, begun.checks);
    return await welcome(context, identity, begun.returnTo, traceId);
  } catch (error) {
    if (error instanceof ProviderError) return refused(error.fault, error.message);
    throw error;
  }
}

async function welcome(
  context: Context,
  { issuer, subject, email, emailVerified }: Identity,
  returnTo: string,
  traceId: string,
): Promise<SsoOutcome> {
  const address = normalizeEmail(email ?? '');
  if (address === undefined || !emailVerified) return refused('unverified', 'no verified address');
  const note = { id: context.ids.event(), traceId, action: 'password.voided', detail: {} } as const;
  const person = await context.store.bindIdentity(issuer, subject, address, note);
  const started = person && (await startSession(context, person.userId, bySso, traceId));
  if (started === undefined) return refused('unknown-person', 'nobody here has this identity');
  return { outcome: 'signed-in', started, returnTo };
}

function openBegun({ seal, now }: Context, sealed: string | undefined): Begun | undefined {
  const text = sealed === undefined ? undefined : seal.open(sealedFor, sealed);
  if (text === undefined) return undefined;
  const begun = JSON.parse(text) as Begun;
  return begun.until > now() ? begun : undefined;
}

function refused(problem: SsoProblem, reason: string): SsoOutcome {
  return { outcome: 'refused', problem, reason };
}
