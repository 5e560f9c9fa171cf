import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  describeSupport,
  documentFormats,
  documentReader,
  searchPassages,
  splitWords,
  toTerm,
  UnreadableDocument as UnreadableFile,
} from '../../answers/src/index.ts';
import type { Signals } from '../../runtime/src/pure/signals.ts';
import { machineTimers as timers } from '../../runtime/src/timers.ts';
import type { Config } from './config/config.ts';
import { AttemptLimit, FailedSignIns } from './domain/attempts.ts';
import type { AccessTokens } from './domain/credential.ts';
import type { Seal } from './domain/cursor.ts';
import { type Library, UnreadableDocument } from './domain/document.ts';
import { createIdGenerator, type ThreadId } from './domain/id.ts';
import { retentionMs } from './domain/retention.ts';
import type { Telemetry } from './domain/telemetry.ts';
import { createSmtpMailer } from './mail/smtp.ts';
import { type ReplySignals, reportEnded } from './replies/index.ts';
import { createAccessTokens } from './security/access-tokens.ts';
import { createPasswords } from './security/passwords.ts';
import { createSeal } from './security/seal.ts';
import { createIdentityProvider } from './security/single-sign-on.ts';
import type { ReplyName, Store } from './storage/port/store.ts';
import { type Authorize, createAuthorize } from './usecases/authorize.ts';
import { type CountUse, createCountUse } from './usecases/count-use.ts';
import { createKeys } from './usecases/credentials/api-keys.ts';
import { createApplications, createTokenIssuer } from './usecases/credentials/applications.ts';
import { createAdmission } from './usecases/credentials/authenticate.ts';
import { createKeyRequests } from './usecases/credentials/key-requests.ts';
import { createDocuments } from './usecases/documents/documents.ts';
import { createExampleQuestions } from './usecases/documents/example-questions.ts';
import { createAuditLog } from './usecases/organization/audit-log.ts';
import { createPromptLimit } from './usecases/organization/limit-prompts.ts';
import { createOrganizations } from './usecases/organization/organization.ts';
import { createPurges } from './usecases/organization/removal.ts';
import { createUsage } from './usecases/organization/requests.ts';
import { createRetention } from './usecases/organization/retention.ts';
import { createModelTest } from './usecases/organization/test-model.ts';
import { createInvitationAcceptance } from './usecases/people/accept-invitation.ts';
import { createInvitations } from './usecases/people/invitations.ts';
import { createKnownDevices } from './usecases/people/known-devices.ts';
import { createMailDelivery, createMailLimit } from './usecases/people/mails.ts';
import { createMembers } from './usecases/people/members.ts';
import { createFailedSignInNotes, createPasswordAttempts } from './usecases/people/password-attempts.ts';
import { createPasswordLinks } from './usecases/people/password-links.ts';
import { createSignIn } from './usecases/people/passwords.ts';
import { createSessions, type Sessions } from './usecases/people/sessions.ts';
import { createSignOut } from './usecases/people/sign-out.ts';
import { createSingleSignOn } from './usecases/people/single-sign-on.ts';
import { createReplyChanges } from './usecases/threads/change-replies.ts';
import { createThreadChanges } from './usecases/threads/change-thread.ts';
import { createThreadCreation } from './usecases/threads/create-thread.ts';
import { createThreadFollowing } from './usecases/threads/follow-thread.ts';
import { createFollowedThreads } from './usecases/threads/followed-threads.ts';
import { createThreadReads } from './usecases/threads/get-thread.ts';
import { createThreadIndex } from './usecases/threads/index-threads.ts';
import { createThreadLists } from './usecases/threads/list-threads.ts';
import { createReplyRatings } from './usecases/threads/rate-replies.ts';
import { createThreadSearch } from './usecases/threads/search-threads.ts';
import { createReplyWaits } from './usecases/threads/wait-for-reply.ts';

const now = Date.now;
const sha256 = (text: string) => hash('sha256', text);
const equalHashes = (one: string, other: string) =>
  timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'));
const secrets = { randomBytes, crc32, sha256 };
const vocabulary = { splitWords, toTerm };
const ids = createIdGenerator(now, randomBytes);

/** The clock, random numbers and hashes of this machine. */
export const machine = { ids, now, timers, randomBytes, sha256, equalHashes };

interface Parts {
  readonly config: Config;
  readonly store: Store;
  readonly baseUrl: () => string;
  readonly telemetry: Telemetry;
  readonly replySignals: ReplySignals;
  readonly threadSignals: Signals<ThreadId>;
}

export type UseCases = Awaited<ReturnType<typeof composeUseCases>>;

/** The modules of use cases, each with what it needs. */
export async function composeUseCases(parts: Parts) {
  const { config, store, baseUrl, telemetry } = parts;
  const { limits } = config;
  const seal = createSeal(await store.secret('cursor-key', randomBytes(32)));
  const accessTokens = openAccessTokens(config, store, baseUrl);
  const failedAttempts = new AttemptLimit(now, limits.personFailuresMax);
  const admission = createAdmission({ store, crc32, sha256, accessTokens, now });
  const sessions = createSessions({ store, ids, randomBytes, sha256, limits });
  const authorize = createAuthorize({
    recheckKey: admission.recheckKey,
    recheckSession: sessions.recheck,
  });
  const countUse = createCountUse({ store, authorize });
  const limitPrompts = createPromptLimit({ countUse, limits });
  const audit = createAuditLog({ store, ids, seal, authorize });
  const people = composePeople(parts, { seal, sessions, authorize, countUse });
  const { members } = people;
  return {
    ...people,
    ...composeThreads(parts, { seal, authorize }),
    admission,
    accessTokens,
    issueAccessToken: createTokenIssuer({ store, sha256, equalHashes, failedAttempts, accessTokens }),
    keys: createKeys({ store, ids, now, secrets, limits, members, authorize }),
    keyRequests: createKeyRequests({ store, ids, secrets, limits, authorize }),
    applications: createApplications({ store, ids, secrets, limits, accessTokens, authorize }),
    documents: createDocuments({
      store,
      ids,
      limits,
      library: openLibrary(config, store),
      audit,
      limitPrompts,
      authorize,
    }),
    exampleQuestions: createExampleQuestions({ store }),
    organizations: createOrganizations({ store, ids, limits, authorize }),
    audit,
    usage: createUsage({ store, now, seal }),
    purges: createPurges({ store, ids, sha256, authorize }),
    retention: createRetention({ store, retentionMs: retentionMs(config.retention), telemetry }),
    limitPrompts,
    testModel: createModelTest({ audit, limitPrompts }),
  };
}

const accountFailuresWindowMs = 15 * 60_000;

function composePeople(
  { config, store, baseUrl, telemetry }: Parts,
  { seal, sessions, authorize, countUse }: PeopleParts,
) {
  const { limits, sso, mail } = config;
  const mailer = mail && createSmtpMailer(mail);
  const sendsMail = mailer !== undefined;
  const hasProvider = sso !== undefined;
  const passwords = createPasswords();
  const failedSignIns = new FailedSignIns(now);
  const attempts = createPasswordAttempts({
    limits: {
      ofPerson: new AttemptLimit(now, limits.personFailuresMax),
      ofNetwork: new AttemptLimit(now, limits.networkFailuresMax),
      ofAccount: new AttemptLimit(now, limits.accountFailuresMax, accountFailuresWindowMs),
      ofDevice: new AttemptLimit(now, limits.personFailuresMax),
    },
    failedSignIns,
    sha256,
  });
  const issueInvitation = createInvitations({
    store,
    ids,
    now,
    randomBytes,
    sha256,
    seal,
    baseUrl,
    sendsMail,
    hasProvider,
    authorize,
  });
  return {
    sessions,
    signOut: createSignOut({ store, ids, authorize }),
    signIn: createSignIn({ store, ids, sha256, passwords, attempts, sessions, authorize }),
    singleSignOn:
      sso && createSingleSignOn({ provider: createIdentityProvider(sso), store, ids, seal, now, sessions }),
    passwordAttempts: attempts,
    knownDevices: createKnownDevices({ seal, now, randomBytes, sha256 }),
    noteFailedSignIns: createFailedSignInNotes({ store, ids, failedSignIns }),
    invitations: createInvitationAcceptance({ store, ids, sha256, passwords, attempts, sessions, authorize }),
    members: createMembers({
      store,
      ids,
      now,
      limits,
      sendsMail,
      hasProvider,
      sessions,
      authorize,
      limitMails: createMailLimit({ countUse, limits, sha256, sendsMail }),
      issueInvitation,
    }),
    passwordLinks: mailer && createPasswordLinks({ store, limits, sha256, issueInvitation }),
    sendMails: mailer && createMailDelivery({ store, ids, seal, mailer, telemetry }),
  };
}

interface PeopleParts {
  readonly seal: Seal;
  readonly sessions: Sessions;
  readonly authorize: Authorize;
  readonly countUse: CountUse;
}

function composeThreads(
  { config, store, telemetry, replySignals, threadSignals }: Parts,
  { seal, authorize }: { readonly seal: Seal; readonly authorize: Authorize },
) {
  const { limits } = config;
  const watchReply = replySignals.watch.bind(replySignals);
  const repliesCancelled = (replies: readonly ReplyName[]) =>
    reportEnded({ replySignals, telemetry }, 'cancelled', replies);
  const followedThreads = createFollowedThreads({ store, watchReply, threadSignals, timers });
  const reads = createThreadReads({ store, followedThreads });
  return {
    threads: {
      ...reads,
      ...createThreadLists({ store, seal, limits }),
      ...createThreadSearch({ store, seal, vocabulary }),
      ...createThreadCreation({ store, ids, sha256, limits, replySignals, authorize }),
      ...createThreadChanges({ store, ids, reads, threadSignals, repliesCancelled, authorize }),
      ...createThreadFollowing({ store, reads, followedThreads, timers }),
    },
    replies: {
      ...createReplyChanges({
        store,
        ids,
        limits,
        reads,
        replySignals,
        threadSignals,
        repliesCancelled,
        authorize,
      }),
      ...createReplyRatings({ store, seal, authorize }),
      ...createReplyWaits({ store, watchReply, telemetry }),
    },
    describeSupport,
    indexThreads: createThreadIndex({ store, vocabulary }),
  };
}

/** Model threads search for replies. Only the operator's commands search here. */
function openLibrary({ limits }: Config, store: Store): Library {
  const read = documentReader(limits);
  return {
    formats: documentFormats,
    async read(organizationId, name, path) {
      try {
        return await read(organizationId, name, path);
      } catch (error) {
        if (!(error instanceof UnreadableFile)) throw error;
        throw new UnreadableDocument(error.message, { cause: error });
      }
    },
    async search(...asked) {
      return searchPassages(store, ...asked);
    },
  };
}

function openAccessTokens(config: Config, store: Store, baseUrl: () => string): AccessTokens {
  const addresses = {
    issuer: () => config.authUrl ?? baseUrl(),
    audience: () => `${baseUrl()}/api/v1`,
    named: {
      issuer: (config.authUrl ?? config.baseUrl) !== undefined,
      audience: config.baseUrl !== undefined,
    },
  };
  return createAccessTokens(store, addresses, now, randomUUID);
}
