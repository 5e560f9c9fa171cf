import { afterEach, beforeEach, describe } from 'node:test';
import { describeAbandonedReplies } from './abandoned-replies.ts';
import { describeAccounts } from './accounts.ts';
import { describeAdmissions } from './admissions.ts';
import { describeApiKeys } from './api-keys.ts';
import { describeApplications } from './applications.ts';
import { describeAudits } from './audit.ts';
import { describeConcurrentCalls } from './concurrent-calls.ts';
import { describeDocumentQuestions } from './document-questions.ts';
import { describeDocumentSearch } from './document-search.ts';
import { describeDocuments } from './documents.ts';
import { type OpenStore, World } from './fixture.ts';
import { describeFollowUps } from './follow-ups.ts';
import { describeForeignOrganizations } from './foreign-organizations.ts';
import { describeKeyRequests } from './key-requests.ts';
import { describeLargeDocuments } from './large-documents.ts';
import { describeMails } from './mails.ts';
import { describeMembers } from './members.ts';
import { describeOrganizations } from './organizations.ts';
import { describePurges } from './purges.ts';
import { describeQuotas } from './quotas.ts';
import { describeRatings } from './ratings.ts';
import { describeReplies } from './replies.ts';
import { describeReplyClocks } from './reply-clocks.ts';
import { describeRequests } from './requests.ts';
import { describeRetention } from './retention.ts';
import { describeSigningKeys } from './signing-keys.ts';
import { describeThreadSearch } from './thread-search.ts';
import { describeThreadVersions } from './thread-versions.ts';
import { describeThreads } from './threads.ts';
import { describeUnchangedObjects } from './unchanged-objects.ts';
import { describeUsages } from './usage.ts';
import { describeVersions } from './versions.ts';
import { describeWalks } from './walks.ts';
import { describeWriteGrants } from './write-grants.ts';

/** The parts of the contract, in the order of their tests. */
const parts = {
  organizations: describeOrganizations,
  members: describeMembers,
  accounts: describeAccounts,
  mails: describeMails,
  apiKeys: describeApiKeys,
  keyRequests: describeKeyRequests,
  applications: describeApplications,
  signingKeys: describeSigningKeys,
  quotas: describeQuotas,
  admissions: describeAdmissions,
  threads: describeThreads,
  concurrentCalls: describeConcurrentCalls,
  writeGrants: describeWriteGrants,
  walks: describeWalks,
  replies: describeReplies,
  replyClocks: describeReplyClocks,
  abandonedReplies: describeAbandonedReplies,
  followUps: describeFollowUps,
  versions: describeVersions,
  ratings: describeRatings,
  threadVersions: describeThreadVersions,
  unchangedObjects: describeUnchangedObjects,
  threadSearch: describeThreadSearch,
  documents: describeDocuments,
  documentSearch: describeDocumentSearch,
  documentQuestions: describeDocumentQuestions,
  largeDocuments: describeLargeDocuments,
  audits: describeAudits,
  usages: describeUsages,
  requests: describeRequests,
  retention: describeRetention,
  purges: describePurges,
  foreignOrganizations: describeForeignOrganizations,
} as const;

export type StorePart = keyof typeof parts;

/**
 * What every adapter promises. `fresh` returns a function that opens a new, empty store. The two real adapters promise
 * every part; the memory store of the simulation names those that it has.
 */
export function describeStore(
  engine: string,
  fresh: () => OpenStore,
  promised: readonly StorePart[] = Object.keys(parts) as StorePart[],
): void {
  describe(`The ${engine} store`, () => {
    const current: { world: World } = {} as { world: World };
    const world = () => current.world;
    beforeEach(async () => {
      current.world = await World.open(fresh());
    });
    afterEach(() => current.world.close());

    for (const part of promised) parts[part](world);
  });
}
