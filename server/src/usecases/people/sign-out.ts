import type { IdGenerator } from '../../domain/id.ts';
import type { Store } from '../../storage/port/store.ts';
import { auditNote } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';
import type { SignedInCall } from './sessions.ts';

interface SignOutNeeds {
  readonly store: Pick<Store, 'endSession' | 'endSessions'>;
  readonly ids: Pick<IdGenerator, 'event'>;
  readonly authorize: Authorize;
}

export type SignOut = ReturnType<typeof createSignOut>;

export function createSignOut({ store, ids, authorize }: SignOutNeeds) {
  return { endSession, signOut, signOutEverywhere };

  /** On every node, from the next request on. Live views end with their next check. */
  async function endSession(tokenHash: string): Promise<void> {
    await store.endSession(tokenHash);
  }

  /** Ends this session, as `endSession` does. Audited in each organization that it can enter. */
  async function signOut({ session, initiator }: SignedInCall): Promise<void> {
    const { userId } = session.session;
    const authority = { kind: 'proof', userId } as const;
    const note = auditNote(ids, { ...initiator, authority }, 'session.ended', userId);
    await store.endSession(session.tokenHash, note);
  }

  /** Ends every session that this session's proof covers, including itself, as `endSession` does. */
  async function signOutEverywhere({ initiator }: Pick<SignedInCall, 'initiator'>): Promise<void> {
    const note = auditNote(ids, initiator, 'session.ended-everywhere', initiator.authority.userId);
    await authorize(initiator.authority, store.endSessions(note));
  }
}
