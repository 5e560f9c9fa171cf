import type { KeyRequest, KeyRequestId } from '../../domain/credential.ts';
import { invalid, notFound, type ServiceError } from '../../domain/errors.ts';
import type { KeyId, OrganizationId } from '../../domain/id.ts';
import { checkName } from '../../domain/text.ts';
import { dayMs } from '../../domain/time.ts';
import type { Context } from '../context.ts';
import { auditNote, type UserChange } from '../organization/audit-log.ts';
import { apiDisabled } from '../organization/organization.ts';
import { type KeyOwners, newKey, tooManyKeys } from './api-keys.ts';

/** How long a request waits for an admin's decision, and then for its owner. */
const keepMs = 7 * dayMs;

/** Requests a personal key for a member. An admin decides, because only admins create credentials (§5.2). */
export async function requestApiKey(change: UserChange, name: string): Promise<KeyRequestId> {
  const { context, principal, initiator } = change;
  const { organizationId, userId } = principal;
  checkName('name:', name, 1);
  const id = context.ids.keyRequest();
  const waitingMax = context.limits.keyRequestsMax;
  const outcome = await context.store.createKeyRequest(
    organizationId,
    { id, userId, name, keepMs, waitingMax },
    auditNote(context, initiator, 'key.requested', id, { name }),
  );
  switch (outcome) {
    case 'created':
      return id;
    case 'not-a-member':
      throw requestNotFound();
    case 'api-disabled':
      throw apiDisabled(organizationId, initiator);
    case 'too-many':
      throw invalid(
        `You have ${waitingMax} open requests: reveal an approved key, or wait for an admin to decide.`,
      );
  }
}

export interface AddressedKeyRequest extends KeyRequest {
  readonly owner: string;
}

/** In order of creation. */
export async function listKeyRequests(
  { store }: Context,
  organizationId: OrganizationId,
  owners: KeyOwners,
): Promise<AddressedKeyRequest[]> {
  const [requests, members] = await Promise.all([
    store.listKeyRequests(organizationId),
    store.listMembers(organizationId),
  ]);
  const addresses = new Map(members.map(({ userId, email }) => [userId, email]));
  return requests.flatMap((request) => {
    const owner = addresses.get(request.userId);
    return owner === undefined || (owners !== 'all' && owners !== request.userId)
      ? []
      : [{ ...request, owner }];
  });
}

/** For admins. Approving does not show the key: only its owner can reveal it. */
export async function decideKeyRequest(
  { context, principal: { organizationId, userId: by }, initiator }: UserChange,
  requestId: string,
  state: 'approved' | 'declined',
): Promise<void> {
  const { id, name, owner } = await findRequest(context, organizationId, requestId);
  const note = auditNote(context, initiator, `key.${state}`, id, { name, owner });
  const decision = { state, by, keepMs };
  if ((await context.store.decideKeyRequest(organizationId, id, decision, note)) === 'missing') {
    throw requestNotFound();
  }
}

/** Creates the approved key and returns it this once, to its owner only. */
export async function revealApiKey(
  { context, principal: { organizationId, userId }, initiator }: UserChange,
  requestId: string,
): Promise<{ id: KeyId; key: string }> {
  const request = await findRequest(context, organizationId, requestId, userId);
  const { key, secret } = newKey(context);
  const { name, owner } = request;
  const detail = { name, hint: secret.hint, owner, request: request.id };
  const note = auditNote(context, initiator, 'key.revealed', secret.id, detail);
  switch (await context.store.redeemKeyRequest(organizationId, request.id, userId, secret, note)) {
    case 'created':
      return { id: secret.id, key };
    case 'api-disabled':
      throw apiDisabled(organizationId, initiator);
    case 'missing':
      throw requestNotFound();
    case 'too-many':
      throw tooManyKeys(context);
  }
}

async function findRequest(
  context: Context,
  organizationId: OrganizationId,
  requestId: string,
  owners: KeyOwners = 'all',
): Promise<AddressedKeyRequest> {
  const requests = await listKeyRequests(context, organizationId, owners);
  const request = requests.find(({ id }) => id === requestId);
  if (request === undefined) throw requestNotFound();
  return request;
}

function requestNotFound(): ServiceError {
  return notFound('The request does not exist, was already decided or has expired.');
}
