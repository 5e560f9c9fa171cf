import type { Initiator } from '../../domain/audit.ts';
import { asAdmin, toActor } from '../../domain/authority.ts';
import { checkName } from '../../domain/check-name.ts';
import {
  type ApiKey,
  type KeyOwners,
  mayOwnKey,
  type RotationGrace,
  rotationGraces,
} from '../../domain/credential.ts';
import { forbidden, invalid, notFound, type ServiceError } from '../../domain/errors.ts';
import type { IdGenerator, KeyId, OrganizationId, UserId } from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import { formerMember, type Member } from '../../domain/organization.ts';
import { iso } from '../../domain/time.ts';
import type { Store } from '../../storage/port/store.ts';
import { auditNote, type Change, missingIn } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';
import type { Members } from '../people/members.ts';
import type { EnteredSession } from '../people/sessions.ts';
import { newKey, notIssued, type SecretSource, tooManyKeys } from './new-key.ts';

interface KeyNeeds {
  readonly store: Pick<
    Store,
    | 'createApiKey'
    | 'rotateApiKey'
    | 'revokeApiKey'
    | 'findApiKey'
    | 'listApiKeys'
    | 'listMembers'
    | 'findMemberById'
  >;
  readonly ids: Pick<IdGenerator, 'event' | 'key'>;
  readonly now: () => number;
  readonly secrets: SecretSource;
  readonly limits: Pick<Limits, 'organizationKeysMax'>;
  readonly members: Pick<Members, 'findById'>;
  readonly authorize: Authorize;
}

export type Keys = ReturnType<typeof createKeys>;

export function createKeys({ store, ids, now, secrets, limits, members, authorize }: KeyNeeds) {
  return { create, rotate, revoke, list };

  /** Returns the key, which cannot be shown again: only its hash is stored. Without a user it is org-wide. */
  async function create(
    change: Change,
    { userId, name }: { userId: string | null; name: string },
  ): Promise<{ id: KeyId; key: string }> {
    const { organizationId, initiator } = change;
    checkName("The key's name", name, 0);
    const owner = userId === null ? null : await members.findById(organizationId, userId);
    if (owner !== null) assertMayOwnKey(initiator, owner);
    const { key, secret } = newKey(ids, secrets);
    const { id, hint } = secret;
    const detail = { name, hint, scope: owner ? 'personal' : 'org-wide', owner: owner?.email ?? null };
    const note = auditNote(ids, initiator, 'key.created', id, detail);
    const created = { ...secret, name, userId: owner?.userId ?? null, createdBy: findCreator(initiator) };
    const write = store.createApiKey(organizationId, created, note);
    const outcome = await authorize(note.authority, write);
    if (outcome === 'created') return { id, key };
    if (outcome === 'not-a-member') {
      throw notFound('The owner of a personal key must be a member of the organization.');
    }
    throw notIssued(change, outcome, tooManyKeys(limits.organizationKeysMax));
  }

  /** Replaces the key and returns the new one, which cannot be shown again. An admin never sees the key of another person. */
  async function rotate(
    change: Change,
    keyId: string,
    { owners, oldValidFor }: { owners: KeyOwners; oldValidFor: RotationGrace },
  ): Promise<{ id: KeyId; key: string; userId: UserId | null }> {
    const { organizationId, initiator } = change;
    const old = await find(change, keyId, owners);
    const { userId, name } = old;
    const owner = userId === null ? null : await store.findMemberById(organizationId, userId);
    if (owner === undefined) throw alreadyEnded();
    if (owner !== null) assertMayOwnKey(initiator, owner);
    const { key, secret: next } = newKey(ids, secrets);
    const oldValidMs = rotationGraces[oldValidFor];
    const detail = { name, hint: next.hint, successor: next.id, oldValidUntil: iso(now() + oldValidMs) };
    const note = auditNote(ids, actAsOwner(initiator, old), 'key.rotated', old.id, detail);
    const rotation = { next, createdBy: findCreator(initiator), oldValidMs };
    const write = store.rotateApiKey(organizationId, old.id, rotation, note);
    const outcome = await authorize(note.authority, write);
    if (outcome === 'rotated') return { id: next.id, key, userId };
    if (outcome === 'missing') throw missingIn(change, `key ${keyId}`, 'key');
    if (outcome === 'revoked') throw alreadyEnded();
    throw notIssued(change, outcome, tooManyKeys(limits.organizationKeysMax));
  }

  /** Once this resolves, requests with the key get 401 on every node (§5.8). Keys of other owners are not found. */
  async function revoke(change: Change, keyId: string, owners: KeyOwners = 'all'): Promise<void> {
    const key = await find(change, keyId, owners);
    const { id, name, hint } = key;
    const note = auditNote(ids, actAsOwner(change.initiator, key), 'key.revoked', id, { name, hint });
    const write = store.revokeApiKey(change.organizationId, id, note);
    const outcome = await authorize(note.authority, write);
    if (outcome === 'missing') throw missingIn(change, `key ${keyId}`, 'key');
  }

  async function list(organizationId: OrganizationId, owners: KeyOwners): Promise<AddressedApiKey[]> {
    const [keys, members] = await Promise.all([
      store.listApiKeys(organizationId),
      store.listMembers(organizationId),
    ]);
    const byId = new Map<UserId | null, Member>(members.map((member) => [member.userId, member]));
    const findAddress = (userId: UserId | null) => userId && (byId.get(userId)?.email ?? formerMember);
    return keys
      .filter(({ userId }) => owners === 'all' || owners === userId)
      .map((key) => ({
        ...key,
        owner: findAddress(key.userId),
        creator: findAddress(key.createdBy),
        ownedByService: byId.get(key.userId)?.service === true,
      }));
  }

  async function find(change: Change, keyId: string, owners: KeyOwners): Promise<ApiKey> {
    const key = await store.findApiKey(change.organizationId, keyId);
    if (key === undefined || (owners !== 'all' && key.userId !== owners)) {
      throw missingIn(change, `key ${keyId}`, 'key');
    }
    return key;
  }
}

export interface AddressedApiKey extends ApiKey {
  readonly owner: string | null;
  readonly ownedByService: boolean;
  /** Null: the operator. */
  readonly creator: string | null;
}

/** Members may change their own keys; for all others, the change needs an admin. */
function actAsOwner(initiator: Initiator, { userId }: ApiKey): Initiator {
  if (initiator.authority.userId === userId) return initiator;
  return { ...initiator, authority: asAdmin(initiator.authority) };
}

function findCreator({ authority }: Initiator): UserId | null {
  const actor = toActor(authority);
  return actor.kind === 'user' ? actor.userId : null;
}

function alreadyEnded(): ServiceError {
  return invalid('The key has already been rotated or revoked. Create a new one.');
}

/** The keys, and their usage, that a member may see and revoke. */
export function findKeyOwners({ membership, principal }: EnteredSession): KeyOwners {
  return membership.role === 'admin' ? 'all' : principal.userId;
}

export function assertMayOwnKey({ authority }: Initiator, owner: Pick<Member, 'userId' | 'service'>): void {
  if (mayOwnKey(authority, owner)) return;
  throw forbidden(
    'You can create and rotate keys for yourself and for service accounts, not for another person.',
  );
}
