import { checkName } from '../../domain/check-name.ts';
import type { KeyOwners } from '../../domain/credential.ts';
import { notFound, type ServiceError } from '../../domain/errors.ts';
import type { IdGenerator, KeyRequestId, OrganizationId } from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import { formerMember } from '../../domain/organization.ts';
import { dayMs } from '../../domain/time.ts';
import type { Store } from '../../storage/port/store.ts';
import { auditNote, type UserChange } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';
import { newKey, notIssued, type SecretSource, tooManyKeys } from './new-key.ts';

/** How long a request waits for an admin's decision, and then for its owner. */
const keepMs = 7 * dayMs;

interface KeyRequestNeeds {
  readonly store: Pick<
    Store,
    'createKeyRequest' | 'listKeyRequests' | 'decideKeyRequest' | 'redeemKeyRequest' | 'listMembers'
  >;
  readonly ids: Pick<IdGenerator, 'event' | 'key' | 'keyRequest'>;
  readonly secrets: SecretSource;
  readonly limits: Pick<Limits, 'organizationKeysMax' | 'keyRequestsMax'>;
  readonly authorize: Authorize;
}

export type KeyRequests = ReturnType<typeof createKeyRequests>;

export function createKeyRequests({ store, ids, secrets, limits, authorize }: KeyRequestNeeds) {
  return { request, list, decide, reveal };

  /** Requests a personal key for a member. An admin decides, because only admins create credentials (§5.2). */
  async function request(change: UserChange, name: string): Promise<KeyRequestId> {
    const { principal, initiator } = change;
    const { organizationId } = principal;
    checkName('`name`', name, 1);
    const id = ids.keyRequest();
    const waitingMax = limits.keyRequestsMax;
    const note = auditNote(ids, initiator, 'key.requested', id, { name });
    const request = { id, name, keepMs, waitingMax };
    const write = store.createKeyRequest(organizationId, request, note);
    const outcome = await authorize(note.authority, write);
    if (outcome === 'created') return id;
    if (outcome === 'not-a-member') throw requestNotFound();
    const tooMany = `You have ${waitingMax} open requests. Reveal an approved key, or wait for an admin to decide.`;
    throw notIssued({ organizationId, initiator }, outcome, tooMany);
  }

  async function list(organizationId: OrganizationId, owners: KeyOwners) {
    const [requests, members] = await Promise.all([
      store.listKeyRequests(organizationId),
      store.listMembers(organizationId),
    ]);
    const addresses = new Map(members.map(({ userId, email }) => [userId, email]));
    return requests
      .filter(({ userId }) => owners === 'all' || owners === userId)
      .map((request) => ({ ...request, owner: addresses.get(request.userId) ?? formerMember }));
  }

  /** For admins. Approving does not show the key: only its owner can reveal it. */
  async function decide(
    change: UserChange,
    requestId: string,
    state: 'approved' | 'declined',
  ): Promise<void> {
    const { principal, initiator } = change;
    const { organizationId, userId: by } = principal;
    const { id, name, owner } = await find(organizationId, requestId);
    const note = auditNote(ids, initiator, `key.${state}`, id, { name, owner });
    const decision = { state, by, keepMs };
    const write = store.decideKeyRequest(organizationId, id, decision, note);
    if ((await authorize(note.authority, write)) === 'missing') throw requestNotFound();
  }

  /** Creates the approved key and returns it, to its owner only. It cannot be shown again. */
  async function reveal(change: UserChange, requestId: string) {
    const { principal, initiator } = change;
    const { organizationId, userId } = principal;
    const request = await find(organizationId, requestId, userId);
    const { key, secret } = newKey(ids, secrets);
    const { name, owner } = request;
    const detail = { name, hint: secret.hint, owner, request: request.id };
    const note = auditNote(ids, initiator, 'key.revealed', secret.id, detail);
    const write = store.redeemKeyRequest(organizationId, request.id, secret, note);
    const outcome = await authorize(note.authority, write);
    if (outcome === 'created') return { id: secret.id, key };
    if (outcome === 'missing') throw requestNotFound();
    throw notIssued({ organizationId, initiator }, outcome, tooManyKeys(limits.organizationKeysMax));
  }

  async function find(organizationId: OrganizationId, requestId: string, owners: KeyOwners = 'all') {
    const requests = await list(organizationId, owners);
    const request = requests.find(({ id }) => id === requestId);
    if (request === undefined) throw requestNotFound();
    return request;
  }
}

function requestNotFound(): ServiceError {
  return notFound('The request does not exist, was already decided or has expired.');
}
