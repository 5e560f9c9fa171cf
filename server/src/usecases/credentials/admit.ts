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
  /** Until the quota resets. */
  readonly resetSeconds: number;
}

/** The owner of a key never changes, so the principals of recently used keys can be cached. */
const knownKeysMax = 10_000;

/**
 * Authenticates the caller and counts the request against today's quota (§8). Throws like `authenticate`. A request over
 * the quota is not an error here: the result has `granted: false`.
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
 * The principal of the credential if it is still valid: the principal never changes, only the validity does. A read may
 * start with it while `admit` runs, and must await `admit` before it answers.
 */
export function expectedPrincipal({ knownKeys }: Context, credential: Credential): Principal | undefined {
  if (credential.kind === 'application') return servicePrincipal(credential.organizationId);
  return knownKeys.get(credential.hash);
}

function remember(knownKeys: Map<string, Principal>, hash: string, principal: Principal): void {
  if (knownKeys.has(hash)) return;
  knownKeys.set(hash, principal);
  if (knownKeys.size > knownKeysMax) knownKeys.delete(knownKeys.keys().next().value!);
}
