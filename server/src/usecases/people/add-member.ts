import type { Initiator } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId, UserId } from '../../domain/id.ts';
import { type MemberRole, normalizeEmail } from '../../domain/organization.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { organizationNotFound } from '../organization/organization.ts';
import { inviteMember } from './invite-member.ts';

export interface AddedMember {
  readonly userId: UserId;
  /** How a person gets in; null for a service account, which does not. */
  readonly invitation: { readonly token: string; readonly expiresAt: number } | null;
}

/** A person is invited at once, and keeps the password they may have from another organization. */
export async function addMember(
  context: Context,
  organizationId: OrganizationId,
  initiator: Initiator,
  { email, role = 'member', service = false }: { email: string; role?: MemberRole; service?: boolean },
): Promise<AddedMember> {
  const address = normalizeEmail(email);
  if (address === undefined) throw new ServiceError('INVALID_PARAMS', `${email} is not an email address.`);
  const { store, ids } = context;
  const candidateUserId = ids.user();
  const detail = { email: address, role, service };
  const note = auditNote(context, initiator, 'member.added', candidateUserId, detail);
  // Or an admin could turn a person into a service account, and read what they wrote with a key for it.
  const withoutThreads = service && initiator.actor.kind !== 'operator';
  const member = { candidateUserId, ...detail, withoutThreads };
  const result = await store.addMember(organizationId, member, note);
  switch (result.outcome) {
    case 'added': {
      const { userId } = result;
      const invitation = service
        ? null
        : await inviteMember(context, organizationId, initiator, userId, { resets: false });
      return { userId, invitation };
    }
    case 'already-member':
      throw new ServiceError('INVALID_PARAMS', `${address} is a member already.`);
    case 'has-threads':
      throw new ServiceError(
        'INVALID_PARAMS',
        `${address} has threads here of an earlier time: take another address for the service account.`,
      );
    case 'organization-missing':
      throw organizationNotFound(organizationId);
  }
}
