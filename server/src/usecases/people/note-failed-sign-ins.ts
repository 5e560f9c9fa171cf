import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';

/** Writes what is due into the log of each organization that the person has joined. An unknown address is nobody's. */
export async function noteFailedSignIns(
  context: Pick<Context, 'store' | 'ids' | 'failedSignIns'>,
  all = false,
): Promise<void> {
  const { store, failedSignIns } = context;
  for (const { email, count, places, traceId } of failedSignIns.take(all)) {
    try {
      const person = await store.findPerson(email);
      if (person === undefined) continue;
      const { userId } = person;
      const initiator = { actor: { kind: 'skein' }, traceId } as const;
      const note = auditNote(context, initiator, 'session.refused', userId, {
        email,
        failures: count,
        places,
      });
      const { entered } = await store.listMemberships(userId, { proof: 'sso' });
      for (const { organizationId } of entered) await store.writeAudit(organizationId, note);
    } catch (error) {
      failedSignIns.giveBack(email, count);
      throw error;
    }
  }
}
