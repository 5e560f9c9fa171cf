import type { Initiator } from '../../domain/audit.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import type { SignedIn } from './read-session.ts';

export async function signOut({ store }: Context, tokenHash: string): Promise<void> {
  await store.endSession(tokenHash);
}

/** Every session that this one's proof covers ends, this one too, on every node with the next request. */
export async function signOutEverywhere(
  context: Context,
  { session: { userId, access } }: SignedIn,
  initiator: Initiator,
): Promise<void> {
  const note = auditNote(context, initiator, 'session.ended-everywhere', userId);
  await context.store.endSessions(userId, access, note);
}
