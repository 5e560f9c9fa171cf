import type { UserId } from '../../domain/id.ts';
import { generateSessionToken } from '../../domain/sign-in-token.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';

/** A session that has just begun. */
export interface StartedSession {
  /** Known only now, and to the person's browser alone: the store keeps a hash of it. */
  readonly token: string;
  readonly userId: UserId;
}

/** How the person proved who they are; of a password, against what. */
export type Proven =
  | { readonly proof: 'sso'; readonly passwordHash: null }
  | { readonly proof: 'password'; readonly passwordHash: string };

/**
 * Undefined for a person who could neither enter nor accept a membership with it, and for a password that was changed
 * meanwhile. Written down in each organization that they can enter.
 */
export async function startSession(
  context: Context,
  userId: UserId,
  proven: Proven,
  traceId: string,
): Promise<StartedSession | undefined> {
  const { store, randomBytes, sha256, limits } = context;
  const token = generateSessionToken(randomBytes);
  const { sessionIdleMs: idleMs, sessionLifeMs: lifeMs } = limits;
  const initiator = { actor: { kind: 'user', userId }, traceId } as const;
  const note = auditNote(context, initiator, 'session.started', userId, { proof: proven.proof });
  const { passwordHash } = proven;
  const session = { tokenHash: sha256(token), userId, passwordHash, idleMs, lifeMs };
  return (await store.createSession(session, note)) === 'created' ? { token, userId } : undefined;
}
