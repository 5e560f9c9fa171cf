import { ServiceError } from '../../domain/errors.ts';
import type { Limits } from '../../domain/limits.ts';
import { deviceCounter, mailCounters } from '../../domain/mail.ts';
import { normalizeEmail } from '../../domain/organization.ts';
import type { KnownDevice } from '../../domain/sign-in.ts';
import type { Log } from '../../domain/telemetry.ts';
import type { Store } from '../../storage/port/store.ts';
import type { IssueInvitation } from './invitations.ts';

interface LinkRequest {
  readonly email: string;
  readonly traceId: string;
  readonly device?: KnownDevice | undefined;
}

const passwordLinkMs = 30 * 60 * 1000;

/** Bounds memory and work in a flood: further requests are dropped. */
const linkRequestsMax = 1_000;

interface PasswordLinkNeeds {
  readonly store: Pick<Store, 'ping' | 'findPerson' | 'listMemberships'>;
  readonly limits: Pick<Limits, 'mailsPerPerson'>;
  readonly sha256: (text: string) => string;
  readonly issueInvitation: IssueInvitation;
}

export type PasswordLinks = ReturnType<typeof createPasswordLinks>;

/** Links to choose a new password, which people have sent to their own address. */
export function createPasswordLinks({ store, limits, sha256, issueInvitation }: PasswordLinkNeeds) {
  /** Who asked since the last round, by address and known device. */
  const linkRequests = new Map<string, LinkRequest>();
  return { request, sendRequested };

  /** The link is created outside of the request, so that timing does not reveal which addresses exist. */
  async function request({ email, device, traceId }: LinkRequest): Promise<void> {
    await store.ping();
    if (linkRequests.size >= linkRequestsMax) return;
    const address = normalizeEmail(email) ?? '';
    // Apart from those of strangers, which would otherwise replace the request of a known device.
    const key = device === undefined ? address : `${address} ${device.id}`;
    linkRequests.set(key, { email: address, device, traceId });
  }

  /** Sends the links that were requested since the last call. If the store fails, the next call continues. */
  async function sendRequested(log: Log): Promise<void> {
    for (const [key, asked] of linkRequests) {
      linkRequests.delete(key);
      try {
        await send(asked);
      } catch (error) {
        if (!(error instanceof ServiceError)) {
          // At the end, so that the next call tries the others first.
          linkRequests.set(key, asked);
          throw error;
        }
        log.warn({ trace_id: asked.traceId, reason: error.message }, 'password link not sent');
      }
    }
  }

  /**
   * Sends a link to choose a new password to a person who can sign in with one. A link of the operator, and one that was
   * mailed in the last half hour, stay valid: otherwise anyone could keep another person's links from working. For the same
   * reason, a known device of the person has its own limit.
   */
  async function send({ email, device, traceId }: LinkRequest): Promise<void> {
    const person = await findPasswordHolder(store, email);
    const [organization] = person?.entered ?? [];
    if (person === undefined || organization === undefined) return;
    const { organizationId } = organization;
    const change = { organizationId, initiator: { authority: { kind: 'skein' }, traceId } } as const;
    const counters = mailCounters(email, sha256);
    const isKnown = device?.userId === person.userId;
    const counter = isKnown ? deviceCounter(counters, device.id) : counters.passwordLinks;
    const requested = { person: counter, personMax: limits.mailsPerPerson };
    const action = 'password.link-requested';
    await issueInvitation(change, person.userId, { resets: true, keepMs: passwordLinkMs, action, requested });
  }
}

/** With the organizations that the person is in. Undefined for somebody without a password. */
export async function findPasswordHolder(
  store: Pick<Store, 'findPerson' | 'listMemberships'>,
  email: string,
) {
  const person = await store.findPerson(email);
  if (person === undefined || person.passwords.length === 0) return undefined;
  const { userId } = person;
  return { userId, ...(await store.listMemberships(userId, { proof: 'sso' })) };
}
