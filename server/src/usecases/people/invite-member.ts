import type { Initiator } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { generateInvitationToken } from '../../domain/sign-in-token.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';

export interface IssuedInvitation {
  /** Known only now: the store keeps a hash of it. */
  readonly token: string;
  readonly expiresAt: number;
}

const invitationMs = 7 * 24 * 60 * 60 * 1000;

/**
 * How a person gets into an organization, once. The operator's link proves the address. With `resets` it also lets them
 * replace a proven password, which gives the whole account to whoever has the link: only the operator may make one.
 */
export async function inviteMember(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  userId: UserId,
  { resets }: { resets: boolean },
): Promise<IssuedInvitation> {
  const { store, now, randomBytes, sha256 } = context;
  if (!resets) await refuseWhoHasJoined(context, organizationId, userId);
  const byOperator = initiator.actor.kind === 'operator';
  const token = generateInvitationToken(randomBytes);
  const expiresAt = now() + invitationMs;
  const outcome = await store.createInvitation(
    organizationId,
    { tokenHash: sha256(token), userId, keepMs: invitationMs, byOperator, resets },
    auditNote(context, initiator, 'member.invited', userId, { resets }),
  );
  switch (outcome) {
    case 'created':
      return { token, expiresAt };
    case 'not-a-member':
      throw new ServiceError('NOT_FOUND', 'There is no such member.');
    case 'service-account':
      throw new ServiceError(
        'INVALID_PARAMS',
        'A service account cannot sign in: make a key for it instead.',
      );
  }
}

/** A link would be of no use to them, and whoever made it could not let them choose a password either. */
async function refuseWhoHasJoined(
  { store }: Context,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<void> {
  const member = await store.findMemberById(organizationId, userId);
  if (member?.opened !== true) return;
  throw new ServiceError(
    'INVALID_PARAMS',
    `${member.email} has joined already. Whoever runs this service can let them choose a new password.`,
  );
}
