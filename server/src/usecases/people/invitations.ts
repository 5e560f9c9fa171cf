import type { AuditAction, Initiator } from '../../domain/audit.ts';
import type { Authority, OwnAuthority } from '../../domain/authority.ts';
import { randomText } from '../../domain/credential.ts';
import type { Seal } from '../../domain/cursor.ts';
import { invalid, notFound, rateLimited } from '../../domain/errors.ts';
import type { IdGenerator, OrganizationId, UserId } from '../../domain/id.ts';
import { dayMs, secondsUntilReset } from '../../domain/time.ts';
import type { Membership, NewInvitation, Store } from '../../storage/port/store.ts';
import { auditNote } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';
import { sealLink } from './mails.ts';

export interface IssuedInvitation {
  /** Null if it is mailed and the operator did not ask for it: an admin could join in place of the person. */
  readonly link: string | null;
  readonly mailed: boolean;
  readonly expiresAt: number;
  /** Memberships of other organizations that close when the link is used. */
  readonly closes?: readonly Membership[];
}

const invitationMs = 7 * dayMs;

interface InvitationNeeds {
  readonly store: Pick<Store, 'createInvitation'>;
  readonly ids: Pick<IdGenerator, 'event'>;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly sha256: (text: string) => string;
  readonly seal: Seal;
  readonly baseUrl: () => string;
  /** Whether a mail server is configured. Otherwise, links are shown to the person who created them. */
  readonly sendsMail: boolean;
  /** Whether people can sign in through a provider. */
  readonly hasProvider: boolean;
  readonly authorize: Authorize;
}

interface InvitingChange {
  readonly organizationId: OrganizationId;
  readonly initiator: Initiator<Authority | OwnAuthority>;
}

type InvitationOptions = Partial<Pick<NewInvitation, 'resets' | 'keepMs' | 'requested'>> & {
  readonly action?: AuditAction;
};

export type IssueInvitation = ReturnType<typeof createInvitations>;

export function createInvitations(needs: InvitationNeeds) {
  const { store, ids, now, randomBytes, sha256, seal, baseUrl, authorize } = needs;
  return issueInvitation;

  async function issueInvitation(
    { organizationId, initiator }: InvitingChange,
    userId: UserId,
    options: InvitationOptions = {},
  ): Promise<IssuedInvitation> {
    const { resets = false, keepMs = invitationMs, action = 'member.invited', ...request } = options;
    const byOperator = initiator.authority.kind === 'operator';
    // 32 characters of base 62 have 190 bits: they cannot be guessed, and a fast hash is enough to protect them.
    const token = `inv_${randomText(randomBytes, 32)}`;
    const tokenHash = sha256(token);
    // Browsers do not send the fragment: the token never appears in a log.
    const link = `${baseUrl()}/invitation#${token}`;
    const mailed = needs.sendsMail;
    const sealedLink = mailed ? sealLink(seal, tokenHash, link) : null;
    const expiresAt = now() + keepMs;
    const note = auditNote(ids, initiator, action, userId, { resets, ...(mailed && { mailed }) });
    const invitation = { tokenHash, userId, keepMs, byOperator, resets, sealedLink, ...request };
    const write = store.createInvitation(organizationId, invitation, note);
    const outcome = await authorize(initiator.authority, write);
    switch (outcome) {
      case 'created':
        return { link: mailed && !byOperator ? null : link, mailed, expiresAt };
      case 'not-a-member':
        throw notFound('No such member.');
      case 'service-account':
        throw invalid('A service account cannot sign in. Create a key for it instead.');
      case 'operator-only':
        throw invalid(
          `This person already has threads or an API key here, so with their link you could read their threads. Ask the operator of this service to create it${needs.hasProvider ? ', or let them join through single sign-on' : ''}.`,
        );
      case 'live':
        throw invalid('A link that was sent earlier is still valid.');
      case 'person-limit':
        throw rateLimited(
          'This person has reached the daily limit of password links.',
          secondsUntilReset(now()),
        );
    }
  }
}
