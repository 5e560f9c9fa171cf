import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import type { ReplyName, Store } from '../port/store.ts';
import type { CommitQueue, Scope } from './commit-queue.ts';

/** From its arguments, what a method reads or changes. */
type ScopeOf<Arguments extends readonly unknown[]> = (...values: Arguments) => Scope;

/** Only a method that does not start with an organization may name no scope. */
type Scopes = {
  readonly [Name in keyof Store]: Parameters<Store[Name]> extends [OrganizationId, ...unknown[]]
    ? ScopeOf<Parameters<Store[Name]>>
    : ScopeOf<Parameters<Store[Name]>> | null;
};

const ofOrganization = (organizationId: OrganizationId): Scope => ({ organizationId });
const ofThread = (organizationId: OrganizationId, threadId: ThreadId): Scope => ({
  organizationId,
  threadId,
});
/** A name is in no organization's scope: a read by name waits only for changes of the whole store. */
const ofIdOrName = (idOrName: string): Scope => ({ organizationId: idOrName });
const ofReply = ({ organizationId, threadId }: ReplyName): Scope => ({ organizationId, threadId });

/** Methods without a scope do not wait for syncs, such as admissions and sweeps. */
const scopes: Scopes = {
  createOrganization: null,
  updateOrganization: ofOrganization,
  findOrganization: ofIdOrName,
  listOrganizations: null,
  addMember: ofOrganization,
  removeMember: ofOrganization,
  setMemberRole: ofOrganization,
  findMember: ofOrganization,
  findMemberById: ofOrganization,
  countMembers: ofOrganization,
  listMembers: ofOrganization,
  findPerson: null,
  listMemberships: null,
  acceptMembership: ofOrganization,
  changePassword: null,
  bindIdentity: null,
  createSession: null,
  findSession: null,
  touchSession: null,
  endSession: null,
  endSessions: null,
  createInvitation: ofOrganization,
  findInvitation: null,
  acceptInvitation: null,
  claimMail: null,
  settleMail: ({ organizationId }) => ({ organizationId }),
  createApiKey: ofOrganization,
  revokeApiKey: ofOrganization,
  rotateApiKey: ofOrganization,
  listApiKeys: ofOrganization,
  findApiKey: ofOrganization,
  nameCredentials: ofOrganization,
  findKeyGrant: null,
  createKeyRequest: ofOrganization,
  listKeyRequests: ofOrganization,
  decideKeyRequest: ofOrganization,
  redeemKeyRequest: ofOrganization,
  createApplication: ofOrganization,
  rotateApplication: ofOrganization,
  deleteApplication: ofOrganization,
  listApplications: ofOrganization,
  findApplicationGrant: null,
  keepSigningKey: null,
  rotateSigningKey: null,
  listSigningKeys: null,
  writeAudit: ofOrganization,
  listAudit: ofOrganization,
  rateReply: ofThread,
  listRatings: ofThread,
  listUnanswered: ofOrganization,
  addRequests: null,
  addTraffic: null,
  listRequests: ofOrganization,
  findRequest: ofOrganization,
  findOldRequest: ofOrganization,
  removeRequests: ofOrganization,
  listTraffic: ofOrganization,
  listUsage: ofOrganization,
  readQuota: ofOrganization,
  countPrompt: ofOrganization,
  secret: null,
  admitKey: null,
  admitApplication: ofOrganization,
  findThread: ofThread,
  threadVersion: ofThread,
  findRunningReply: ofThread,
  getThreadHead: ofThread,
  listMessages: ofThread,
  listAccounts: ofOrganization,
  createThread: (organizationId, { id: threadId }) => ({ organizationId, threadId }),
  getThread: ofThread,
  renameThread: ofThread,
  deleteThread: ofThread,
  addReply: ofThread,
  restoreThread: ofThread,
  setThreadPublished: ofThread,
  cancelReplies: ofThread,
  beginWalk: ofOrganization,
  continueWalk: ofOrganization,
  summarizeThreads: ofOrganization,
  takeUnindexed: null,
  indexThreads: null,
  searchThreads: ofOrganization,
  organizationsWaiting: null,
  endedReplies: null,
  replyBacklog: null,
  claimReplies: null,
  renewReplies: null,
  recordReplyProgress: ofReply,
  settleReply: ofReply,
  releaseReply: ofReply,
  sweepReplies: null,
  releaseOrphanedReplies: null,
  sendNotice: null,
  onNotice: null,
  putDocument: ofOrganization,
  removeDocument: ofOrganization,
  sweepDocuments: null,
  listDocuments: ofOrganization,
  findDocument: ofOrganization,
  claimDocumentForQuestions: null,
  setDocumentQuestions: ofOrganization,
  listDocumentQuestions: ofOrganization,
  listPassages: ofOrganization,
  outlineDocuments: ofOrganization,
  findPassages: ofOrganization,
  readPassages: ofOrganization,
  removeExpired: null,
  countExpired: null,
  findUser: null,
  countPurge: ofOrganization,
  purgeOrganization: ofOrganization,
  purgePerson: ofOrganization,
  anonymizeAudit: ofOrganization,
  finishPurge: null,
  ping: null,
  connections: null,
  clockAheadMs: null,
  diagnose: null,
  close: null,
};

/**
 * Callers poll, so a read must not show a commit that a power cut could take back. A method returns only when every commit in
 * its scope that it may have seen is on the disk: it waits for the running sync and the next one at most, and not for other
 * organizations or, if its scope is a thread, other threads.
 */
export function syncedReads(store: Store, commits: CommitQueue): Store {
  const wrapped = Object.entries(store).map(([name, method]) => {
    const deriveScope = scopes[name as keyof Store] as ScopeOf<unknown[]> | null;
    if (deriveScope === null) return [name, method];
    const call = method as (...values: unknown[]) => Promise<unknown>;
    const synced = async (...values: unknown[]) => {
      const scope = deriveScope(...values);
      const value = await commits.inScope(scope, () => call(...values));
      const syncing = commits.whenSynced(scope);
      if (syncing !== undefined) await syncing;
      return value;
    };
    return [name, synced];
  });
  return Object.fromEntries(wrapped) as Store;
}
