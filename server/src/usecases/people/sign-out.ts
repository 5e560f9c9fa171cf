import { authorize } from '../authorize.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import type { SignedInCall } from './sessions.ts';

/** On every node, from the next request on. Live views end with their next check. */
export async function endSession({ store }: Context, tokenHash: string): Promise<void> {
  await store.endSession(tokenHash);
}

/** Ends this session, as `endSession` does. Audited in each organization that it can enter. */
export async function signOut({ context, session, initiator }: SignedInCall): Promise<void> {
  const { userId } = session.session;
  const authority = { kind: 'proof', userId } as const;
  const ended = { context, initiator: { ...initiator, authority } };
  await context.store.endSession(session.tokenHash, auditNote(ended, 'session.ended', userId));
}

/** Ends every session that this session's proof covers, including itself, as `endSession` does. */
export async function signOutEverywhere(call: SignedInCall): Promise<void> {
  const { context, initiator } = call;
  const note = auditNote(call, 'session.ended-everywhere', initiator.authority.userId);
  await authorize(context, initiator.authority, context.store.endSessions(note));
}
