import type { Initiator } from '../../domain/audit.ts';
import { apiKeyHint, generateApiKey, type KeyRequest, type KeyRequestId } from '../../domain/credential.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { KeyId, OrganizationId, UserId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import { nameFault } from '../../domain/text.ts';
import type { Context } from '../context.ts';
import { auditNote } from '../organization/audit-log.ts';
import { apiDisabled } from '../organization/organization.ts';
import type { KeyOwners } from './key-owner.ts';

/** How long a request waits for an admin, and an approved or declined one for its owner. */
const keepMs = 7 * 24 * 60 * 60 * 1000;

/** A member asks for a personal key. Admins create credentials (§5.2): one of them decides. */
export async function requestApiKey(
  context: Context,
  { organizationId, userId }: UserPrincipal,
  initiator: Initiator,
  name: string,
): Promise<KeyRequestId> {
  const fault = nameFault(name, 1, context.limits.nameLengthMax);
  if (fault !== undefined) throw new ServiceError('INVALID_PARAMS', `name: ${fault}.`);
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
      throw new ServiceError(
        'INVALID_PARAMS',
        `You have ${waitingMax} requests that wait: reveal an approved key, or wait for an admin to decide.`,
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

/** For admins. Approving shows nobody a key: its owner reveals it. */
export async function decideKeyRequest(
  context: Context,
  { organizationId, userId: by }: UserPrincipal,
  initiator: Initiator,
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

/** The key exists and works from now on. It is returned here and nowhere else, to its owner alone. */
export async function revealApiKey(
  context: Context,
  { organizationId, userId }: UserPrincipal,
  initiator: Initiator,
  requestId: string,
): Promise<{ id: KeyId; key: string }> {
  const { store, ids, randomBytes, crc32, sha256 } = context;
  const request = await findRequest(context, organizationId, requestId, userId);
  const key = generateApiKey(randomBytes, crc32);
  const secret = { id: ids.key(), hash: sha256(key), hint: apiKeyHint(key) };
  const { name, owner } = request;
  const detail = { name, hint: secret.hint, owner, request: request.id };
  const note = auditNote(context, initiator, 'key.revealed', secret.id, detail);
  switch (await store.redeemKeyRequest(organizationId, request.id, userId, secret, note)) {
    case 'created':
      return { id: secret.id, key };
    case 'api-disabled':
      throw apiDisabled(organizationId, initiator);
    case 'missing':
      throw requestNotFound();
  }
}

/** A request of another member is not there for whoever may see only their own. */
async function findRequest(
  context: Context,
  organizationId: OrganizationId,
  requestId: string,
  owners: KeyOwners | UserId = 'all',
): Promise<AddressedKeyRequest> {
  const requests = await listKeyRequests(context, organizationId, owners);
  const request = requests.find(({ id }) => id === requestId);
  if (request === undefined) throw requestNotFound();
  return request;
}

function requestNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'The request does not exist, was decided or has expired.');
}
