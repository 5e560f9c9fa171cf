import type { Principal } from '../../domain/principal.ts';
import { type QuotaUse, secondsUntilReset, utcDay } from '../../domain/quota.ts';
import type { Context } from '../context.ts';
import {
  type Authenticated,
  type Credential,
  outsideTheBeta,
  principalOf,
  revoked,
  servicePrincipal,
} from './authenticate.ts';

export interface Admitted extends Authenticated, QuotaUse {
  /** Until the quota begins anew. */
  readonly resetSeconds: number;
}

/** The last so many keys that called: whose they are never changes. */
const rememberedKeys = 10_000;

/**
 * Who calls, counted against today's quota (§8). Throws what `authenticate` does; whether the request was granted is the
 * answer, not an error.
 */
export async function admit(context: Context, credential: Credential): Promise<Admitted> {
  const { store, knownKeys } = context;
  const now = context.now();
  const day = utcDay(now);
  const admission =
    credential.kind === 'key'
      ? await store.admitKey(credential.hash, day)
      : await store.admitApplication(
          credential.organizationId,
          credential.applicationId,
          credential.epoch,
          day,
        );
  if (admission === undefined) throw revoked(credential);
  if (admission.use === undefined) throw outsideTheBeta();
  const principal =
    credential.kind === 'key'
      ? principalOf(admission.organizationId, admission.userId, credential.hash)
      : servicePrincipal(admission.organizationId);
  if (credential.kind === 'key') remember(knownKeys, credential.hash, principal);
  return {
    ...admission.use,
    principal,
    credentialId: admission.credentialId,
    resetSeconds: secondsUntilReset(now),
  };
}

/**
 * Who calls, if the credential is still good: what it stands for never changes, only whether it does. A read may begin
 * with that while `admit` is under way, and must wait for it before it answers.
 */
export function expectedPrincipal({ knownKeys }: Context, credential: Credential): Principal | undefined {
  if (credential.kind === 'application') return servicePrincipal(credential.organizationId);
  return knownKeys.get(credential.hash);
}

function remember(knownKeys: Map<string, Principal>, hash: string, principal: Principal): void {
  if (knownKeys.has(hash)) return;
  knownKeys.set(hash, principal);
  if (knownKeys.size > rememberedKeys) knownKeys.delete(knownKeys.keys().next().value!);
}
