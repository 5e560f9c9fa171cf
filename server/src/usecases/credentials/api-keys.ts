import { counted } from '../../../../runtime/src/pure/text.ts';
import type { Initiator } from '../../domain/audit.ts';
import { asAdmin, toActor } from '../../domain/authority.ts';
import { checkName } from '../../domain/check-name.ts';
import {
  type ApiKey,
  apiKeyHint,
  generateApiKey,
  mayOwnKey,
  type RotationGrace,
  rotationGraces,
} from '../../domain/credential.ts';
import { forbidden, invalid, notFound, type ServiceError } from '../../domain/errors.ts';
import type { KeyId, KeyRequestId, UserId } from '../../domain/id.ts';
import { formerMember, type Member } from '../../domain/organization.ts';
import { dayMs, iso } from '../../domain/time.ts';
import type { KeySecret } from '../../storage/port/store.ts';
import { authorize } from '../authorize.ts';
import type { Context, OrganizationCall } from '../context.ts';
import { auditNote, type Change, missingIn, type UserChange } from '../organization/audit-log.ts';
import { notIssued } from '../organization/organization.ts';
import { findMemberById } from '../people/members.ts';
import type { EnteredSession } from '../people/sessions.ts';

/** Returns the key, which cannot be shown again: only its hash is stored. Without a user it is org-wide. */
export async function createApiKey(
  change: Change,
  { userId, name }: { userId: string | null; name: string },
): Promise<{ id: KeyId; key: string }> {
  const { context, organizationId, initiator } = change;
  checkName("The key's name", name, 0);
  const owner = userId === null ? null : await findMemberById(change, userId);
  if (owner !== null) assertMayOwnKey(initiator, owner);
  const { key, secret } = newKey(context);
  const { id, hint } = secret;
  const detail = { name, hint, scope: owner ? 'personal' : 'org-wide', owner: owner?.email ?? null };
  const note = auditNote(change, 'key.created', id, detail);
  const created = { ...secret, name, userId: owner?.userId ?? null, createdBy: creatorOf(initiator) };
  const write = context.store.createApiKey(organizationId, created, note);
  const outcome = await authorize(context, note.authority, write);
  if (outcome === 'created') return { id, key };
  if (outcome === 'not-a-member') {
    throw notFound('The owner of a personal key must be a member of the organization.');
  }
  throw notIssued(change, outcome, tooManyKeys(context));
}

/** Replaces the key and returns the new one, which cannot be shown again. An admin never sees the key of another person. */
export async function rotateApiKey(
  change: Change,
  keyId: string,
  { owners, oldValidFor }: { owners: KeyOwners; oldValidFor: RotationGrace },
): Promise<{ id: KeyId; key: string; userId: UserId | null }> {
  const { context, organizationId, initiator } = change;
  const { store, now } = context;
  const old = await findApiKey(change, keyId, owners);
  const { userId, name } = old;
  const owner = userId === null ? null : await store.findMemberById(organizationId, userId);
  if (owner === undefined) throw alreadyEnded();
  if (owner !== null) assertMayOwnKey(initiator, owner);
  const { key, secret: next } = newKey(context);
  const oldValidMs = rotationGraces[oldValidFor];
  const detail = { name, hint: next.hint, successor: next.id, oldValidUntil: iso(now() + oldValidMs) };
  const note = auditNote(asOwner(change, old), 'key.rotated', old.id, detail);
  const rotation = { next, createdBy: creatorOf(initiator), oldValidMs };
  const write = store.rotateApiKey(organizationId, old.id, rotation, note);
  const outcome = await authorize(context, note.authority, write);
  if (outcome === 'rotated') return { id: next.id, key, userId };
  if (outcome === 'missing') throw missingIn(change, `key ${keyId}`, 'key');
  if (outcome === 'revoked') throw alreadyEnded();
  throw notIssued(change, outcome, tooManyKeys(context));
}

/** Once this resolves, requests with the key get 401 on every node (§5.8). Keys of other owners are not found. */
export async function revokeApiKey(change: Change, keyId: string, owners: KeyOwners = 'all'): Promise<void> {
  const key = await findApiKey(change, keyId, owners);
  const { id, name, hint } = key;
  const note = auditNote(asOwner(change, key), 'key.revoked', id, { name, hint });
  const write = change.context.store.revokeApiKey(change.organizationId, id, note);
  const outcome = await authorize(change.context, note.authority, write);
  if (outcome === 'missing') throw missingIn(change, `key ${keyId}`, 'key');
}

export interface AddressedApiKey extends ApiKey {
  readonly owner: string | null;
  readonly ownedByService: boolean;
  /** Null: the operator. */
  readonly creator: string | null;
}

export async function listApiKeys(
  { context: { store }, organizationId }: OrganizationCall,
  owners: KeyOwners,
): Promise<AddressedApiKey[]> {
  const [keys, members] = await Promise.all([
    store.listApiKeys(organizationId),
    store.listMembers(organizationId),
  ]);
  const byId = new Map<UserId | null, Member>(members.map((member) => [member.userId, member]));
  const addressOf = (userId: UserId | null) => userId && (byId.get(userId)?.email ?? formerMember);
  return keys
    .filter(({ userId }) => owners === 'all' || owners === userId)
    .map((key) => ({
      ...key,
      owner: addressOf(key.userId),
      creator: addressOf(key.createdBy),
      ownedByService: byId.get(key.userId)?.service === true,
    }));
}

function newKey({ ids, randomBytes, crc32, sha256 }: Context): { key: string; secret: KeySecret } {
  const key = generateApiKey(randomBytes, crc32);
  return { key, secret: { id: ids.key(), hash: sha256(key), hint: apiKeyHint(key) } };
}

/** Members may change their own keys; for all others, the change needs an admin. */
function asOwner(change: Change, { userId }: ApiKey): Change {
  const { initiator } = change;
  if (initiator.authority.userId === userId) return change;
  return { ...change, initiator: { ...initiator, authority: asAdmin(initiator.authority) } };
}

function creatorOf({ authority }: Initiator): UserId | null {
  const actor = toActor(authority);
  return actor.kind === 'user' ? actor.userId : null;
}

async function findApiKey(change: Change, keyId: string, owners: KeyOwners): Promise<ApiKey> {
  const key = await change.context.store.findApiKey(change.organizationId, keyId);
  if (key === undefined || (owners !== 'all' && key.userId !== owners)) {
    throw missingIn(change, `key ${keyId}`, 'key');
  }
  return key;
}

function alreadyEnded(): ServiceError {
  return invalid('The key has already been rotated or revoked. Create a new one.');
}

function tooManyKeys({ limits }: Context): string {
  return `The organization has reached the limit of ${counted(limits.organizationKeysMax, 'key')}. Revoke unused keys, or ask an admin to do so.`;
}

export type KeyOwners = 'all' | UserId;

/** The keys, and their usage, that a member may see and revoke. */
export function keyOwnersFor({ membership, principal }: EnteredSession): KeyOwners {
  return membership.role === 'admin' ? 'all' : principal.userId;
}

export function assertMayOwnKey({ authority }: Initiator, owner: Pick<Member, 'userId' | 'service'>): void {
  if (mayOwnKey(authority, owner)) return;
  throw forbidden(
    'You can create and rotate keys for yourself and for service accounts, not for another person.',
  );
}

/** How long a request waits for an admin's decision, and then for its owner. */
const keepMs = 7 * dayMs;

/** Requests a personal key for a member. An admin decides, because only admins create credentials (§5.2). */
export async function requestApiKey(change: UserChange, name: string): Promise<KeyRequestId> {
  const { context, principal } = change;
  const { organizationId } = principal;
  checkName('`name`', name, 1);
  const id = context.ids.keyRequest();
  const waitingMax = context.limits.keyRequestsMax;
  const note = auditNote(change, 'key.requested', id, { name });
  const request = { id, name, keepMs, waitingMax };
  const write = context.store.createKeyRequest(organizationId, request, note);
  const outcome = await authorize(context, note.authority, write);
  if (outcome === 'created') return id;
  if (outcome === 'not-a-member') throw requestNotFound();
  const tooMany = `You have ${waitingMax} open requests. Reveal an approved key, or wait for an admin to decide.`;
  throw notIssued({ ...change, organizationId }, outcome, tooMany);
}

export async function listKeyRequests(
  { context: { store }, organizationId }: OrganizationCall,
  owners: KeyOwners,
) {
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
export async function decideKeyRequest(
  change: UserChange,
  requestId: string,
  state: 'approved' | 'declined',
): Promise<void> {
  const { context, principal } = change;
  const { organizationId, userId: by } = principal;
  const { id, name, owner } = await findRequest(change, requestId);
  const note = auditNote(change, `key.${state}`, id, { name, owner });
  const decision = { state, by, keepMs };
  const write = context.store.decideKeyRequest(organizationId, id, decision, note);
  if ((await authorize(context, note.authority, write)) === 'missing') throw requestNotFound();
}

/** Creates the approved key and returns it, to its owner only. It cannot be shown again. */
export async function revealApiKey(change: UserChange, requestId: string) {
  const { context, principal } = change;
  const { organizationId, userId } = principal;
  const request = await findRequest(change, requestId, userId);
  const { key, secret } = newKey(context);
  const { name, owner } = request;
  const detail = { name, hint: secret.hint, owner, request: request.id };
  const note = auditNote(change, 'key.revealed', secret.id, detail);
  const write = context.store.redeemKeyRequest(organizationId, request.id, secret, note);
  const outcome = await authorize(context, note.authority, write);
  if (outcome === 'created') return { id: secret.id, key };
  if (outcome === 'missing') throw requestNotFound();
  throw notIssued({ ...change, organizationId }, outcome, tooManyKeys(context));
}

async function findRequest(
  { context, principal: { organizationId } }: UserChange,
  requestId: string,
  owners: KeyOwners = 'all',
) {
  const requests = await listKeyRequests({ context, organizationId }, owners);
  const request = requests.find(({ id }) => id === requestId);
  if (request === undefined) throw requestNotFound();
  return request;
}

function requestNotFound(): ServiceError {
  return notFound('The request does not exist, was already decided or has expired.');
}
