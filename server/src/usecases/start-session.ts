import type { UserId } from '../domain/id.ts';
import { generateSessionToken } from '../domain/sign-in-token.ts';
import type { Proof } from '../storage/store.ts';
import { auditNote } from './audit-note.ts';
import type { Context } from './context.ts';

/** A session that has just begun. */
export interface StartedSession {
  /** Known only now, and to the person's browser alone: the store keeps a hash of it. */
  readonly token: string;
  readonly userId: UserId;
}

/** Undefined for a person who could enter no organization with it. Written down in each that they can. */
export async function startSession(
  context: Context,
  userId: UserId,
  proof: Proof,
  traceId: string,
): Promise<StartedSession | undefined> {
  const { store, randomBytes, sha256, settings } = context;
  const memberships = await store.listMemberships(userId, proof);
  if (memberships.length === 0) return undefined;
  const token = generateSessionToken(randomBytes);
  await store.createSession({
    tokenHash: sha256(token),
    userId,
    proof,
    idleMs: settings.sessionIdleMs,
    lifeMs: settings.sessionLifeMs,
  });
  const doer = { actor: { kind: 'user', userId }, traceId } as const;
  for (const { organizationId } of memberships) {
    await store.writeAudit(organizationId, auditNote(context, doer, 'session.started', userId, { proof }));
  }
  return { token, userId };
}
