import assert from 'node:assert/strict';
import type {
  AnyAuthority,
  Authority,
  PersonAuthority,
  SessionAuthority,
} from '../../src/domain/authority.ts';
import type { KeyId, KeyRequestId, OrganizationId, UserId } from '../../src/domain/id.ts';
import type { AuditNote, Store } from '../../src/storage/port/store.ts';
import { Accounting, day, freshHash, newInvitation, newMember } from './account-fixture.ts';
import {
  by,
  newApplication,
  newDocument,
  newFollowUp,
  newThread,
  note,
  operator,
  strangers,
  type World,
} from './fixture.ts';

/** A person with a role in an organization, two sessions and a personal key. */
export interface Scene {
  readonly world: World;
  readonly people: Accounting;
  readonly organization: OrganizationId;
  readonly person: UserId;
  readonly email: string;
  readonly sessionHash: string;
  readonly otherSession: SessionAuthority;
  readonly keyHash: string;
  readonly keyId: KeyId;
}

const password = 'the hash of a password';
/** Shorter than anything else that ends by itself. */
export const sessionIdleMs = 60_000;

export async function openScene(world: World, proof: 'password' | 'sso' = 'password'): Promise<Scene> {
  const people = new Accounting(world);
  const organization = await world.organization();
  const email = `${strangers.user()}@example.org`;
  const person = await people.add(organization, email, { role: 'admin' });
  const colleague = await people.add(organization, `${strangers.user()}@example.org`, { role: 'admin' });
  await people.join(organization, colleague, password, { byOperator: true });
  await people.join(organization, person, password, { byOperator: true });
  if (proof === 'sso') await people.bind(email);
  const sessionHash = await people.signIn(person, {
    passwordHash: proof === 'sso' ? null : password,
    idleMs: sessionIdleMs,
  });
  const sessionOther = await people.signIn(person, { passwordHash: password });
  const [keyHash, keyId] = [freshHash(), strangers.key()];
  const key = { id: keyId, hash: keyHash, hint: '', name: '', userId: person, createdBy: null };
  assert.equal(await world.store.createApiKey(organization, key, note()), 'created');
  const other = { kind: 'session', userId: person, sessionHash: sessionOther } as const;
  const otherSession = { ...other, organizationId: null, role: 'member' } as const;
  return { world, people, organization, person, email, sessionHash, otherSession, keyHash, keyId };
}

/** What takes a right away, or seems to. */
export const changes = {
  demoted: ({ world: { store }, organization, person }) =>
    store.setMemberRole(organization, person, 'member', note()),
  removed: ({ world: { store }, organization, email }) =>
    store.removeMember(organization, email, false, note()),
  'signed out': ({ world: { store }, sessionHash }) => store.endSession(sessionHash),
  'signed out everywhere': ({ world: { store }, otherSession }) =>
    store.endSessions(note(undefined, undefined, { authority: otherSession })),
  'password changed': ({ world: { store }, otherSession }) => {
    const noted = note('password.changed', undefined, { authority: otherSession });
    return store.changePassword({ current: password, next: freshHash() }, noted);
  },
  'key revoked': ({ world: { store }, organization, keyId }) =>
    store.revokeApiKey(organization, keyId, note()),
  'API disabled': ({ world: { store }, organization }) =>
    store.updateOrganization(organization, { apiEnabled: false }, note()),
} satisfies Record<string, (scene: Scene) => Promise<unknown>>;

export type Change = keyof typeof changes;
export const changeNames = Object.keys(changes) as Change[];

const sessionEnds: readonly Change[] = ['signed out', 'signed out everywhere', 'password changed'];
/** What ends each kind of authority. Every other change must not matter. */
export const ends = {
  admin: [...sessionEnds, 'removed', 'demoted'],
  member: [...sessionEnds, 'removed'],
  person: sessionEnds,
  key: ['removed', 'key revoked', 'API disabled'],
} satisfies Record<string, readonly Change[]>;

export type Grounds = keyof typeof ends;

/** A write that is about to be done. */
interface Prepared {
  readonly write: (authority: PersonAuthority) => Promise<unknown>;
  readonly isDone: () => Promise<boolean>;
}

export interface Line {
  /** The kinds of authority that suffice. */
  readonly by: readonly Grounds[];
  readonly prepare: (scene: Scene) => Promise<Prepared>;
  /** How the session was started, if it matters. */
  readonly proof?: 'sso';
  /** Other outcomes than `unauthorized` with which a change refuses the write. */
  readonly outcomes?: Partial<Record<Change, unknown>>;
  /** A change that comes first can still be committed later, or the other way around: it says why. */
  readonly isUnordered?: string;
}

type Last<List extends readonly unknown[]> =
  Required<List> extends readonly [...unknown[], infer Item] ? Item : never;
type Grounded = AnyAuthority | { readonly authority: AnyAuthority };
/** A method that takes an authority which a person can have must have a line; any other says why it has none. */
type LineOf<Method extends keyof Store> = Store[Method] extends (...args: infer Args) => unknown
  ? Last<Args> extends Grounded
    ? AuditNote<SessionAuthority> extends Last<Args>
      ? Line
      : SessionAuthority extends Last<Args>
        ? Line
        : string
    : string
  : never;

const read = 'reads';
const own = 'background work of the service';
const ofOperator = 'only the operator does it';
const worker = 'a worker does it, with its claim';
const proves = 'proves who the person is: its own tests say what it verifies';

const noted = <A extends Authority>(authority: A): AuditNote<A> => note(undefined, undefined, { authority });
const isApiNeeded = { 'API disabled': 'api-disabled' };

/** A member other than the person, who has not joined. */
const addTarget = async ({ people, organization }: Scene) => {
  const email = `${strangers.user()}@example.org`;
  return { email, userId: await people.add(organization, email) };
};

async function addKey({ world: { store }, organization, person }: Scene, userId: UserId | null = null) {
  const [id, hash] = [strangers.key(), freshHash()];
  const key = { id, hash, hint: '', name: '', userId, createdBy: person };
  assert.equal(await store.createApiKey(organization, key, note()), 'created');
  return { id, isLive: async () => (await store.findKeyGrant(hash)) !== undefined };
}

const newSecret = () => ({ id: strangers.key(), hash: freshHash(), hint: '' });

async function addKeyRequest({ world: { store }, organization, person }: Scene) {
  const id = `req_${freshHash()}` as KeyRequestId;
  const request = { id, name: 'A key', keepMs: day, waitingMax: 9 };
  assert.equal(await store.createKeyRequest(organization, request, noted(by(person))), 'created');
  const state = async () => (await store.listKeyRequests(organization)).find((one) => one.id === id)?.state;
  return { id, state };
}

async function addApplication({ world: { store }, organization }: Scene) {
  const application = newApplication();
  assert.equal(await store.createApplication(organization, application, note()), 'created');
  const grant = () => store.findApplicationGrant(application.id);
  return { id: application.id, grant };
}

/** A thread of the person whose reply has ended. */
async function addThread({ world, organization, person }: Scene) {
  const { id, replyId } = await world.thread(organization, person);
  await world.store.cancelReplies(organization, id, operator);
  return { id, replyId, find: () => world.store.findThread(organization, id) };
}

/** The subject of a note that is not written yet. */
function unnoted({ world, organization }: Scene) {
  const subject = strangers.user();
  const isNoted = async () => {
    const { events } = await world.store.listAudit(organization, { limit: 50 });
    return events.some((event) => event.subject === subject);
  };
  return { subject, isNoted };
}

const budget = { documentsMax: 9, bytesMax: 9999 };

/** Every method of the port. */
export const lines: { readonly [Method in keyof Store]: LineOf<Method> } = {
  createThread: {
    by: ['member', 'key'],
    async prepare({ world: { store }, organization, person }) {
      const thread = newThread(person);
      return {
        write: (authority) => store.createThread(organization, thread, authority),
        isDone: async () => (await store.findThread(organization, thread.id)) !== undefined,
      };
    },
  },
  renameThread: {
    by: ['member', 'key'],
    async prepare(scene) {
      const { id, find } = await addThread(scene);
      return {
        write: (authority) => scene.world.store.renameThread(scene.organization, id, 'Renamed', authority),
        isDone: async () => (await find())?.title === 'Renamed',
      };
    },
  },
  deleteThread: {
    by: ['member', 'key'],
    async prepare(scene) {
      const { id, find } = await addThread(scene);
      return {
        write: (authority) => scene.world.store.deleteThread(scene.organization, id, noted(authority)),
        isDone: async () => (await find())?.deletedAt !== null,
      };
    },
  },
  restoreThread: {
    by: ['member'],

    async prepare(scene) {
      const { id, find } = await addThread(scene);
      await scene.world.store.deleteThread(scene.organization, id, noted(by(scene.person)));
      return {
        write: (authority) => scene.world.store.restoreThread(scene.organization, id, day, noted(authority)),
        isDone: async () => (await find())?.deletedAt === null,
      };
    },
  },
  setThreadPublished: {
    by: ['member'],

    async prepare(scene) {
      const { id, find } = await addThread(scene);
      const { store } = scene.world;
      return {
        write: (authority) => store.setThreadPublished(scene.organization, id, true, noted(authority)),
        isDone: async () => (await find())?.published === true,
      };
    },
  },
  addReply: {
    by: ['member'],

    async prepare(scene) {
      const { id } = await addThread(scene);
      const { store } = scene.world;
      return {
        write: (authority) => store.addReply(scene.organization, id, newFollowUp(), authority),
        isDone: async () => (await store.getThreadHead(scene.organization, id))?.messageCount === 4,
      };
    },
  },
  cancelReplies: {
    by: ['member'],
    async prepare({ world, organization, person }) {
      const { id } = await world.thread(organization, person);
      return {
        write: (authority) => world.store.cancelReplies(organization, id, authority),
        isDone: async () =>
          (await world.store.findRunningReply(organization, id, { userId: person })) === null,
      };
    },
  },
  rateReply: {
    by: ['member'],
    async prepare(scene) {
      const { id, replyId } = await addThread(scene);
      const { store } = scene.world;
      const rating = { value: 'up', comment: null } as const;
      return {
        write: (authority) => store.rateReply(scene.organization, id, replyId, rating, authority),
        isDone: async () => (await store.listRatings(scene.organization, id, scene.person)).length === 1,
      };
    },
  },
  countPrompt: {
    by: ['member'],
    isUnordered: 'the embedded store commits it apart from durable writes',
    async prepare({ world: { store }, organization, person }) {
      const count = (authority: Authority, personMax: number) =>
        store.countPrompt(organization, person, { period: 'day', personMax, organizationMax: 9 }, authority);
      let counted = 0;
      return {
        write: (authority) => count(authority, 9),
        async isDone() {
          counted += 1;
          return (await count(operator, counted)) !== 'counted';
        },
      };
    },
  },
  createApiKey: {
    by: ['admin'],
    outcomes: isApiNeeded,
    async prepare({ world: { store }, organization, person }) {
      const key = { ...newSecret(), name: '', userId: null, createdBy: person };
      return {
        write: (authority) => store.createApiKey(organization, key, noted(authority)),
        isDone: async () => (await store.findKeyGrant(key.hash)) !== undefined,
      };
    },
  },
  rotateApiKey: {
    by: ['admin'],
    outcomes: isApiNeeded,
    async prepare(scene) {
      const { id } = await addKey(scene);
      const { store } = scene.world;
      const next = newSecret();
      const rotation = { next, createdBy: scene.person, oldValidMs: 0 };
      return {
        write: (authority) => store.rotateApiKey(scene.organization, id, rotation, noted(authority)),
        isDone: async () => (await store.findKeyGrant(next.hash)) !== undefined,
      };
    },
  },
  revokeApiKey: {
    by: ['admin'],
    async prepare(scene) {
      const { id, isLive } = await addKey(scene);
      return {
        write: (authority) => scene.world.store.revokeApiKey(scene.organization, id, noted(authority)),
        isDone: async () => !(await isLive()),
      };
    },
  },
  createKeyRequest: {
    by: ['member'],
    outcomes: isApiNeeded,
    async prepare({ world: { store }, organization }) {
      const request = { id: `req_${freshHash()}` as KeyRequestId, name: '', keepMs: day, waitingMax: 9 };
      return {
        write: (authority) => store.createKeyRequest(organization, request, noted(authority)),
        isDone: async () => (await store.listKeyRequests(organization)).length === 1,
      };
    },
  },
  decideKeyRequest: {
    by: ['admin'],
    async prepare(scene) {
      const { id, state } = await addKeyRequest({ ...scene, person: (await addTarget(scene)).userId });
      const { store } = scene.world;
      const decision = { state: 'approved', by: scene.person, keepMs: day } as const;
      return {
        write: (authority) => store.decideKeyRequest(scene.organization, id, decision, noted(authority)),
        isDone: async () => (await state()) === 'approved',
      };
    },
  },
  redeemKeyRequest: {
    by: ['member'],
    outcomes: isApiNeeded,
    async prepare(scene) {
      const { id } = await addKeyRequest(scene);
      const { world, organization, person } = scene;
      const decision = { state: 'approved', by: person, keepMs: day } as const;
      await world.store.decideKeyRequest(organization, id, decision, note());
      const secret = newSecret();
      return {
        write: (authority) => world.store.redeemKeyRequest(organization, id, secret, noted(authority)),
        isDone: async () => (await world.store.listApiKeys(organization)).some((key) => key.id === secret.id),
      };
    },
  },
  createApplication: {
    by: ['admin'],
    outcomes: isApiNeeded,
    async prepare({ world: { store }, organization }) {
      const application = newApplication();
      return {
        write: (authority) => store.createApplication(organization, application, noted(authority)),
        isDone: async () => (await store.findApplicationGrant(application.id)) !== undefined,
      };
    },
  },
  rotateApplication: {
    by: ['admin'],
    outcomes: isApiNeeded,
    async prepare(scene) {
      const { id, grant } = await addApplication(scene);
      const { store } = scene.world;
      return {
        write: (authority) => store.rotateApplication(scene.organization, id, freshHash(), noted(authority)),
        isDone: async () => (await grant())?.epoch === 2,
      };
    },
  },
  deleteApplication: {
    by: ['admin'],
    async prepare(scene) {
      const { id, grant } = await addApplication(scene);
      return {
        write: (authority) => scene.world.store.deleteApplication(scene.organization, id, noted(authority)),
        isDone: async () => (await grant()) === undefined,
      };
    },
  },
  addMember: {
    by: ['admin'],
    async prepare({ world: { store }, organization }) {
      const email = `${strangers.user()}@example.org`;
      return {
        write: (authority) => store.addMember(organization, newMember(email), noted(authority)),
        isDone: async () => (await store.findMember(organization, email)) !== undefined,
      };
    },
  },
  removeMember: {
    by: ['admin'],
    async prepare(scene) {
      const { email } = await addTarget(scene);
      const { store } = scene.world;
      return {
        write: (authority) => store.removeMember(scene.organization, email, true, noted(authority)),
        isDone: async () => (await store.findMember(scene.organization, email)) === undefined,
      };
    },
  },
  setMemberRole: {
    by: ['admin'],
    async prepare(scene) {
      const { email, userId } = await addTarget(scene);
      const { store } = scene.world;
      return {
        write: (authority) => store.setMemberRole(scene.organization, userId, 'admin', noted(authority)),
        isDone: async () => (await store.findMember(scene.organization, email))?.role === 'admin',
      };
    },
  },
  createInvitation: {
    by: ['admin'],
    async prepare(scene) {
      const { userId } = await addTarget(scene);
      const { store } = scene.world;
      const invitation = newInvitation(userId);
      return {
        write: (authority) => store.createInvitation(scene.organization, invitation, noted(authority)),
        isDone: async () => (await store.findInvitation(invitation.tokenHash)) !== undefined,
      };
    },
  },
  updateOrganization: {
    by: ['admin'],
    async prepare({ world: { store }, organization }) {
      return {
        write: (authority) => store.updateOrganization(organization, { dailyQuota: 7 }, noted(authority)),
        isDone: async () => (await store.findOrganization(organization))?.dailyQuota === 7,
      };
    },
  },
  putDocument: {
    by: ['admin'],
    isUnordered: 'it is several transactions, and the first and the last one verify the authority',
    async prepare({ world: { store }, organization }) {
      return {
        write: (authority) => store.putDocument(organization, newDocument(), budget, noted(authority)),
        isDone: async () => (await store.listDocuments(organization)).length === 1,
      };
    },
  },
  removeDocument: {
    by: ['admin'],
    async prepare({ world: { store }, organization }) {
      const document = newDocument();
      await store.putDocument(organization, document, budget, note());
      return {
        write: (authority) => store.removeDocument(organization, document.id, noted(authority)),
        isDone: async () => (await store.listDocuments(organization)).length === 0,
      };
    },
  },
  writeAudit: {
    by: ['admin'],
    async prepare(scene) {
      const { subject, isNoted } = unnoted(scene);
      const { world, organization } = scene;
      const write = (authority: PersonAuthority) =>
        world.store.writeAudit(organization, { ...noted(authority), subject });
      return { write, isDone: isNoted };
    },
  },
  changePassword: {
    by: ['person'],
    async prepare({ world, people, email }) {
      const { store } = world;
      const next = freshHash();
      // Passwords are only found for members.
      await people.add(await world.organization(), email);
      return {
        write: (authority) =>
          store.changePassword({ current: password, next }, noted(authority as SessionAuthority)),
        isDone: async () => (await people.hashes(email))?.includes(next) === true,
      };
    },
  },
  endSessions: {
    by: ['person'],
    async prepare(scene) {
      const { world, people, person, email } = scene;
      // It is noted in every organization of the person, who may have left that of the scene.
      const organization = await world.organization();
      await people.add(organization, email);
      await people.join(organization, person, { proven: password });
      const { subject, isNoted } = unnoted({ ...scene, organization });
      const write = (authority: PersonAuthority) =>
        world.store.endSessions({ ...noted(authority as SessionAuthority), subject });
      return { write, isDone: isNoted };
    },
  },
  acceptMembership: {
    by: ['person'],
    proof: 'sso',
    async prepare({ world, people, person, email }) {
      const organization = await world.organization();
      await people.add(organization, email);
      return {
        write: (authority) =>
          world.store.acceptMembership(organization, noted(authority as SessionAuthority)),
        isDone: async () =>
          (await world.store.listMemberships(person, { proof: 'sso' })).entered.some(
            ({ organizationId }) => organizationId === organization,
          ),
      };
    },
  },

  acceptInvitation: proves,
  bindIdentity: proves,
  createSession: proves,
  endSession: 'the token that it ends is the authority',
  touchSession: 'the token that it extends is the authority',
  admitKey: 'the key that it admits is the authority',
  admitApplication: 'the token that it admits is the authority',

  createOrganization: ofOperator,
  rotateSigningKey: ofOperator,
  purgeOrganization: ofOperator,
  purgePerson: ofOperator,
  anonymizeAudit: ofOperator,
  finishPurge: ofOperator,
  close: ofOperator,

  claimReplies: worker,
  renewReplies: worker,
  recordReplyProgress: worker,
  settleReply: worker,
  releaseReply: worker,
  releaseOrphanedReplies: worker,

  sweepReplies: own,
  sendNotice: own,
  onNotice: own,
  claimMail: own,
  settleMail: own,
  addRequests: own,
  addTraffic: own,
  removeRequests: own,
  removeExpired: own,
  takeUnindexed: own,
  indexThreads: own,
  sweepDocuments: own,
  claimDocumentForQuestions: own,
  setDocumentQuestions: own,
  keepSigningKey: own,
  secret: own,
  ping: own,

  findOrganization: read,
  listOrganizations: read,
  findMember: read,
  findMemberById: read,
  countMembers: read,
  listMembers: read,
  listApiKeys: read,
  findApiKey: read,
  nameCredentials: read,
  findKeyGrant: read,
  listKeyRequests: read,
  listApplications: read,
  findApplicationGrant: read,
  listSigningKeys: read,
  getThread: read,
  findThread: read,
  getThreadHead: read,
  listMessages: read,
  threadVersion: read,
  findRunningReply: read,
  listAccounts: read,
  beginWalk: read,
  continueWalk: read,
  searchThreads: read,
  summarizeThreads: read,
  organizationsWaiting: read,
  endedReplies: read,
  replyBacklog: read,
  listRatings: read,
  listUnanswered: read,
  listDocuments: read,
  findDocument: read,
  listPassages: read,
  listDocumentQuestions: read,
  outlineDocuments: read,
  findPassages: read,
  readPassages: read,
  findPerson: read,
  listMemberships: read,
  findSession: read,
  findInvitation: read,
  listAudit: read,
  listRequests: read,
  findRequest: read,
  findOldRequest: read,
  listTraffic: read,
  listUsage: read,
  readQuota: read,
  countExpired: read,
  findUser: read,
  countPurge: read,
  connections: read,
  clockAheadMs: read,
  diagnose: read,
};
