import type { Admissions, ApiKeys, Applications } from '../store.ts';
import type { QuotaCounter } from './quotas.ts';

/** Reads and counts one after the other: nothing here is a flight away. */
export function sqliteAdmissions(
  { findKeyGrant }: ApiKeys,
  { findApplicationGrant }: Applications,
  { consumeQuota }: QuotaCounter,
): Admissions {
  return {
    async admitKey(hash, day) {
      const grant = await findKeyGrant(hash);
      if (grant === undefined) return undefined;
      const { organizationId, userId, keyId: credentialId, apiEnabled } = grant;
      const use = apiEnabled ? await consumeQuota(organizationId, day) : undefined;
      return { organizationId, userId, credentialId, use };
    },

    async admitApplication(organizationId, applicationId, epoch, day) {
      const grant = await findApplicationGrant(applicationId);
      if (grant?.organizationId !== organizationId || grant.epoch !== epoch) return undefined;
      const use = grant.apiEnabled ? await consumeQuota(organizationId, day) : undefined;
      return { organizationId, userId: null, credentialId: applicationId, use };
    },
  };
}
