import type { Initiator } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { generateInvitationToken } from '../../domain/sign-in-token.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';

export interface IssuedInvitation {
  /** Returned only here: the store keeps a hash. */
  readonly token: string;
  readonly expiresAt: number;
}

const invitationMs = 7 * 24 * 60 * 60 * 1000;

/**
 * Creates a link with which a person joins the organization, once. A link from the operator proves the address. With
 * `resets` it also replaces a proven password, which gives the whole account to the holder of the link: only the operator
 * may create such a link.
 */
export async function inviteMember(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  userId: UserId,
  { resets }: { resets: boolean },
): Promise<IssuedInvitation> {
  const { store, now, randomBytes, sha256 } = context;
  if (!resets) await rejectJoined(context, organizationId, userId);
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
        'A service account cannot sign in: create a key for it instead.',
      );
  }
}

/** A person who has joined needs no link, and only a link with `resets` could change their password. */
async function rejectJoined(
  { store }: Context,
  organizationId: OrganizationId,
  userId: UserId,
): Promise<void> {
  const member = await store.findMemberById(organizationId, userId);
  if (member?.opened !== true) return;
  throw new ServiceError(
    'INVALID_PARAMS',
    `${member.email} has already joined. The operator of this service can create a link to reset their password.`,
  );
}
