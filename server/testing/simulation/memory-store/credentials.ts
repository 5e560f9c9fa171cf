import type { ApiKey, Application } from '../../../src/domain/credential.ts';
import type { OrganizationId, UserId } from '../../../src/domain/id.ts';
import { defaultLimits } from '../../../src/domain/limits.ts';
import type { Member, Organization, QuotaUse } from '../../../src/domain/organization.ts';
import type {
  Accounts,
  Admissions,
  ApiKeys,
  Applications,
  KeyGrant,
  Organizations,
  SigningKeys,
} from '../../../src/storage/port/store.ts';
import type { Sync } from './sync.ts';
import type { ApplicationRow, KeyRow, MemberRow, OrganizationRow, Tables } from './tables.ts';

type KeyRequestMethod = 'createKeyRequest' | 'listKeyRequests' | 'decideKeyRequest' | 'redeemKeyRequest';
type Keys = Omit<ApiKeys, KeyRequestMethod>;
type Sessions = Pick<Accounts, 'createSession' | 'findSession' | 'endSession'>;
type Credentials = Organizations & Keys & Applications & SigningKeys & Admissions & Sessions;

/** Organizations, members and their credentials, and the quota. */
export function memoryCredentials(tables: Tables): Sync<Credentials> {
  const { clock, organizations } = tables;

  function findGrant(hash: string): KeyGrant | undefined {
    const key = tables.keysByHash.get(hash);
    if (key === undefined || !isLive(key, clock.peek())) return undefined;
    const { organization, id: keyId, userId } = key;
    return { organizationId: organization.id, keyId, userId, apiEnabled: organization.apiEnabled };
  }

  /** Counts a request against the quota. Undefined if the API is disabled for the organization. */
  function use(organizationId: OrganizationId, day: number): QuotaUse | undefined {
    const { apiEnabled, dailyQuota: limit, quotaUse } = organizations.get(organizationId)!;
    if (!apiEnabled) return undefined;
    const used = quotaUse.get(day) ?? 0;
    const granted = used < limit;
    if (granted) quotaUse.set(day, used + 1);
    return { granted, limit, remaining: Math.max(0, limit - used - 1) };
  }

  function insertKey(key: Omit<KeyRow, 'createdAt' | 'revokedAt'>): void {
    const row = { ...key, createdAt: clock.now(), revokedAt: null };
    key.organization.keys.set(key.id, row);
    tables.keysByHash.set(key.hash, row);
  }

  /** Whether the member is an admin and no other person of the organization is. */
  function isLastAdmin({ members }: OrganizationRow, { userId, role, service }: MemberRow): boolean {
    const isAdmin = (one: MemberRow) => one.role === 'admin' && !one.service;
    if (role !== 'admin' || service) return false;
    return ![...members.values()].some((one) => one.userId !== userId && isAdmin(one));
  }

  function mayAddKey({ keys }: OrganizationRow, revokedNow = 0): boolean {
    const live = [...keys.values()].filter((key) => isLive(key, clock.peek()));
    return live.length - revokedNow < defaultLimits.organizationKeysMax;
  }

  const activeKey = () => tables.signingKeys.find(({ retiredAt }) => retiredAt === null);

  return {
    createOrganization({ id, name, apiEnabled, dailyQuota }, note) {
      const createdAt = clock.now();
      organizations.set(id, { id, name, apiEnabled, dailyQuota, createdAt, ...emptyTables() });
      tables.note(id, note, createdAt);
    },

    updateOrganization(organizationId, change, note) {
      const row = organizations.get(organizationId);
      if (row === undefined) return undefined;
      const { apiEnabled = row.apiEnabled, dailyQuota = row.dailyQuota } = change;
      if (apiEnabled !== row.apiEnabled || dailyQuota !== row.dailyQuota) {
        Object.assign(row, { apiEnabled, dailyQuota });
        tables.note(organizationId, note, clock.now());
      }
      return toOrganization(row);
    },

    findOrganization(idOrName) {
      const named = [...organizations.values()].filter(({ name }) => name === idOrName);
      const row =
        organizations.get(idOrName as OrganizationId) ?? (named.length === 1 ? named[0] : undefined);
      return row && toOrganization(row);
    },

    listOrganizations: () => [...organizations.values()].map(toOrganization),

    addMember(organizationId, { candidateUserId, email, role, service, withoutThreads }, note) {
      const organization = organizations.get(organizationId);
      if (organization === undefined) return { outcome: 'organization-missing' };
      const userId = tables.userIds.get(email) ?? candidateUserId;
      if (organization.members.has(userId)) return { outcome: 'already-member' };
      const isTheirs = (thread: { userId: UserId }) => thread.userId === userId;
      if (withoutThreads && [...organization.listed].some(isTheirs)) return { outcome: 'has-threads' };
      const joinedAt = clock.now();
      tables.userIds.set(email, userId);
      tables.users.add(userId);
      organization.members.set(userId, { userId, email, role, service, joinedAt });
      tables.note(organizationId, { ...note, subject: userId }, joinedAt);
      return { outcome: 'added', userId };
    },

    removeMember(organizationId, email, keepAdmin, note) {
      const organization = organizations.get(organizationId);
      const member = [...(organization?.members.values() ?? [])].find((one) => one.email === email);
      if (organization === undefined || member === undefined) return { outcome: 'missing' };
      if (keepAdmin && isLastAdmin(organization, member)) return { outcome: 'last-admin' };
      const { userId } = member;
      const now = clock.now();
      organization.members.delete(userId);
      const theirs = [...organization.keys.values()].filter(
        (key) => key.userId === userId && isLive(key, now),
      );
      for (const key of theirs) key.revokedAt = now;
      tables.note(organizationId, note, now);
      return { outcome: 'removed', userId, keysRevoked: theirs.length };
    },

    setMemberRole(organizationId, userId, role, note) {
      const organization = organizations.get(organizationId);
      const member = organization?.members.get(userId);
      if (organization === undefined || member === undefined) return 'missing';
      if (member.role === role) return 'unchanged';
      if (isLastAdmin(organization, member)) return 'last-admin';
      member.role = role;
      tables.note(organizationId, note, clock.now());
      return 'changed';
    },

    findMember(organizationId, email) {
      const userId = tables.userIds.get(email);
      const member = userId && organizations.get(organizationId)?.members.get(userId);
      return member && toMember(member);
    },

    findMemberById(organizationId, userId) {
      const member = organizations.get(organizationId)?.members.get(userId);
      return member && toMember(member);
    },

    countMembers: (organizationId) => organizations.get(organizationId)?.members.size ?? 0,

    listMembers: (organizationId) =>
      [...(organizations.get(organizationId)?.members.values() ?? [])].map(toMember),

    /** Of any member: invitations are not simulated. */
    createSession({ tokenHash, userId }) {
      tables.sessions.set(tokenHash, userId);
      return 'created';
    },

    findSession(tokenHash, organizationId) {
      const userId = tables.sessions.get(tokenHash);
      if (userId === undefined) return undefined;
      const organization = organizationId && organizations.get(organizationId);
      const member = organization?.members.get(userId);
      const membership = organization &&
        member && {
          ...{ organizationId: organization.id, organizationName: organization.name },
          ...{ apiEnabled: organization.apiEnabled, role: member.role },
        };
      const now = clock.peek();
      return { userId, email: '', access: { proof: 'sso' }, seenAt: now, now, membership };
    },

    endSession: (tokenHash) => void tables.sessions.delete(tokenHash),

    createApiKey(organizationId, key, note) {
      const organization = organizations.get(organizationId);
      if (organization === undefined) return 'organization-missing';
      if (!organization.apiEnabled) return 'api-disabled';
      if (key.userId !== null && !organization.members.has(key.userId)) return 'not-a-member';
      if (!mayAddKey(organization)) return 'too-many';
      insertKey({ ...key, organization });
      tables.note(organizationId, note, clock.now());
      return 'created';
    },

    revokeApiKey(organizationId, keyId, note) {
      const key = organizations.get(organizationId)?.keys.get(keyId);
      if (key === undefined) return 'missing';
      const now = clock.now();
      if (isLive(key, now)) {
        key.revokedAt = now;
        tables.note(organizationId, note, now);
      }
      return 'revoked';
    },

    rotateApiKey(organizationId, keyId, { next, createdBy, oldValidMs }, note) {
      const organization = organizations.get(organizationId);
      const old = organization?.keys.get(keyId);
      if (organization === undefined || old === undefined) return 'missing';
      if (!organization.apiEnabled) return 'api-disabled';
      if (old.userId !== null && !organization.members.has(old.userId)) return 'missing';
      if (old.revokedAt !== null) return 'revoked';
      if (!mayAddKey(organization, oldValidMs === 0 ? 1 : 0)) return 'too-many';
      old.revokedAt = clock.now() + oldValidMs;
      insertKey({ ...next, name: old.name, userId: old.userId, createdBy, organization });
      tables.note(organizationId, note, clock.now());
      return 'rotated';
    },

    listApiKeys(organizationId) {
      const keys = [...(organizations.get(organizationId)?.keys.values() ?? [])];
      const revoked = keys
        .filter((key) => !isLive(key, clock.peek()))
        .sort((one, other) => other.revokedAt! - one.revokedAt!);
      const left = new Set(revoked.slice(defaultLimits.revokedKeysListedMax));
      return keys.filter((key) => !left.has(key)).map(toApiKey);
    },

    findApiKey(organizationId, keyId) {
      const keys = organizations.get(organizationId)?.keys as Map<string, KeyRow> | undefined;
      const key = keys?.get(keyId);
      return key && toApiKey(key);
    },

    nameCredentials(organizationId, ids) {
      const { keys, applications } = organizations.get(organizationId) ?? emptyTables();
      const named = [
        ...[...keys.values()].map(({ id, name, hint }) => ({ id, name: name || hint })),
        ...[...applications.values()].flatMap(({ id, name, deleted }) => (deleted ? [] : [{ id, name }])),
      ];
      return named.filter(({ id }) => ids.includes(id));
    },

    findKeyGrant: findGrant,

    createApplication(organizationId, { id, name, secretHash }, note) {
      const organization = organizations.get(organizationId);
      if (organization === undefined) return 'organization-missing';
      if (!organization.apiEnabled) return 'api-disabled';
      const live = [...organization.applications.values()].filter(({ deleted }) => !deleted);
      if (live.length >= defaultLimits.organizationApplicationsMax) return 'too-many';
      const createdAt = clock.now();
      const row = {
        id,
        name,
        secretHash,
        epoch: 1,
        createdAt,
        rotatedAt: null,
        deleted: false,
        organization,
      };
      organization.applications.set(id, row);
      tables.applications.set(id, row);
      tables.note(organizationId, note, createdAt);
      return 'created';
    },

    rotateApplication(organizationId, applicationId, secretHash, note) {
      const application = organizations.get(organizationId)?.applications.get(applicationId);
      if (organizations.get(organizationId)?.apiEnabled === false) return 'api-disabled';
      if (application === undefined || application.deleted) return 'missing';
      application.secretHash = secretHash;
      application.epoch += 1;
      application.rotatedAt = clock.now();
      tables.note(organizationId, note, clock.now());
      return 'rotated';
    },

    deleteApplication(organizationId, applicationId, note) {
      const application = organizations.get(organizationId)?.applications.get(applicationId);
      if (application === undefined || application.deleted) return 'missing';
      application.epoch += 1;
      application.deleted = true;
      tables.note(organizationId, note, clock.now());
      return 'deleted';
    },

    listApplications: (organizationId) =>
      [...(organizations.get(organizationId)?.applications.values() ?? [])]
        .filter(({ deleted }) => !deleted)
        .map(toApplication),

    findApplicationGrant(applicationId) {
      const application = (tables.applications as Map<string, ApplicationRow>).get(applicationId);
      if (application === undefined || application.deleted) return undefined;
      const { organization, secretHash, epoch } = application;
      return { organizationId: organization.id, secretHash, epoch, apiEnabled: organization.apiEnabled };
    },

    keepSigningKey(candidate) {
      if (activeKey() === undefined) tables.signingKeys.unshift({ ...candidate, retiredAt: null });
      return copyRow(activeKey())!;
    },

    rotateSigningKey(next, forget, note) {
      for (const key of tables.signingKeys) key.retiredAt ??= clock.now();
      if (forget) {
        tables.signingKeys.length = 0;
        for (const application of tables.applications.values())
          application.epoch += 1 + (clock.now() % 2 ** 40);
      }
      tables.signingKeys.unshift({ ...next, retiredAt: null });
      const live = [...(tables.applications as Map<string, ApplicationRow>).values()].filter(
        ({ deleted }) => !deleted,
      );
      const holders = new Set(live.map(({ organization }) => organization.id));
      for (const organizationId of holders) tables.note(organizationId, note, clock.now());
    },

    listSigningKeys: (verifyMs) =>
      tables.signingKeys
        .filter(({ retiredAt }) => retiredAt === null || retiredAt > clock.peek() - verifyMs)
        .map((key) => ({ ...key })),

    admitKey(hash, day) {
      const grant = findGrant(hash);
      if (grant === undefined) return undefined;
      const { organizationId, userId, keyId: credentialId } = grant;
      return { organizationId, userId, credentialId, use: use(organizationId, day) };
    },

    admitApplication(organizationId, applicationId, epoch, day) {
      const application = organizations.get(organizationId)?.applications.get(applicationId);
      if (application === undefined || application.deleted || application.epoch !== epoch) return undefined;
      return { organizationId, userId: null, credentialId: applicationId, use: use(organizationId, day) };
    },
  };
}

function copyRow<T extends object>(row: T | undefined): T | undefined {
  return row && { ...row };
}

export function isLive({ revokedAt }: KeyRow, now: number): boolean {
  return revokedAt === null || revokedAt > now;
}

function emptyTables(): Omit<OrganizationRow, keyof Organization> {
  return {
    threads: new Map(),
    listed: new Set(),
    members: new Map(),
    keys: new Map(),
    applications: new Map(),
    quotaUse: new Map(),
    promptUse: new Map(),
    usage: new Map(),
    lastUsedAt: new Map(),
    idempotency: new Map(),
    audit: [],
  };
}

function toOrganization({ id, name, apiEnabled, dailyQuota, createdAt }: OrganizationRow): Organization {
  return { id, name, apiEnabled, dailyQuota, createdAt };
}

function toMember(member: MemberRow): Member {
  return { ...member, opened: false, invitedUntil: null, mailState: null };
}

function toApiKey(key: KeyRow): ApiKey {
  const { id, name, userId, hint, createdBy, createdAt, revokedAt, organization } = key;
  const lastUsedAt = organization.lastUsedAt.get(id) ?? null;
  return { id, name, userId, hint, createdBy, createdAt, revokedAt, lastUsedAt };
}

function toApplication({ id, name, createdAt, rotatedAt, organization }: ApplicationRow): Application {
  return { id, name, createdAt, rotatedAt, lastUsedAt: organization.lastUsedAt.get(id) ?? null };
}
