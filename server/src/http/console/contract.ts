/**
 * What the console's backend and the web application say to each other, in JSON. Types alone, and nothing imported: the
 * web application takes them from here, so that the two cannot drift apart. Times are ISO 8601. Failures have the
 * envelope and the codes of the public interface.
 *
 * Every request but GET bears a proof that the application sent it: `X-Skein-CSRF`, the session's `csrfToken`. Without a
 * session (signing in, accepting an invitation) its value is `none`.
 */

// Signing in. Addresses below are under `/console`.

/** `GET /sign-in`: what can be offered. */
export interface SignInOffer {
  /** The name of the provider, where single sign-on is set up: `/console/sso/start?returnTo=PATH` begins it. */
  readonly sso: { readonly name: string } | null;
}

/**
 * Why single sign-on came back without a session: `/sign-in?problem=…`. `unverified`: the provider does not vouch for the
 * address. `unknown-person`: nobody here has it, or whoever does signs in as somebody else there.
 */
export type SignInProblem =
  | 'provider-unavailable'
  | 'cancelled'
  | 'expired'
  | 'unverified'
  | 'unknown-person'
  | 'failed';

/** `POST /sign-in` answers `SessionJson`; 401 for a wrong address or password alike, 429 after too many. */
export interface SignInBody {
  readonly email: string;
  readonly password: string;
}

/** `GET /session`; 401 without one. */
export interface SessionJson {
  readonly user: { readonly id: string; readonly email: string };
  readonly csrfToken: string;
  /** How the session was begun: whoever has no password cannot change it. */
  readonly proof: 'password' | 'sso';
  readonly limits: LimitsJson;
  /** Those that this session may enter. None only while there are invitations. */
  readonly organizations: readonly OrganizationJson[];
  /** Organizations that have added the person, who has not accepted yet. Only single sign-on proves enough to list them. */
  readonly invitations: readonly { readonly id: string; readonly name: string }[];
}

/** What the service accepts; lengths are in code points. */
export interface LimitsJson {
  readonly promptLengthMax: number;
  readonly titleLengthMax: number;
  /** Of an account. */
  readonly linkLengthMax: number;
  /** Of a key or an application. */
  readonly nameLengthMax: number;
  readonly documentBytesMax: number;
}

export interface OrganizationJson {
  readonly id: string;
  readonly name: string;
  readonly role: 'admin' | 'member';
  /** Whether it is in the beta. */
  readonly apiEnabled: boolean;
}

/** `POST /sign-out` and `POST /sign-out-everywhere` have no body and answer `{}`. `POST /password` answers `{}`. */
export interface PasswordBody {
  readonly current: string;
  readonly next: string;
}

/** `POST /invitation/read` answers `InvitationJson`, 404 when it was used or has expired. */
export interface InvitationBody {
  readonly token: string;
}

export interface InvitationJson {
  readonly email: string;
  readonly organization: string;
  /** `choose`: a new password. `prove`: the one the person has already. `sso`: they have none, and use the provider. */
  readonly password: 'choose' | 'prove' | 'sso';
}

/** `POST /invitation/accept` answers `SessionJson`, and so does `POST /invitations/{organizationId}/accept`, without a body. */
export interface AcceptInvitationBody {
  readonly token: string;
  readonly password: string;
}

/** `GET /threads/{id}/home`: which of the person's organizations has the thread; 404 where none does. */
export interface ThreadHomeJson {
  readonly organizationId: string;
}

// Threads. Addresses from here on are under `/console/organizations/{organizationId}`.

export interface ThreadJson {
  readonly id: string;
  readonly title: string;
  readonly createdAt: string;
  readonly updatedAt: string | null;
  readonly accountId: string | null;
  readonly published: boolean;
  /** Whether the person created it, and so may change it. */
  readonly mine: boolean;
}

/** `GET /threads?scope=mine|published&accountId=&search=&cursor=&limit=` */
export interface ThreadListJson {
  readonly threads: readonly ThreadJson[];
  /** With a search: there are more threads to search in, and a page may be empty though more follow. */
  readonly nextCursor: string | null;
  /** There are older threads than the list can reach: narrow it down by account. */
  readonly truncated: boolean;
}

/** `GET /accounts?prefix=`: up to 20, for suggestions. */
export interface AccountsJson {
  readonly accounts: readonly string[];
}

/** `POST /threads`, with an `Idempotency-Key`, answers 201 and `ThreadViewJson`. */
export interface NewThreadBody {
  readonly prompt: string;
  readonly title?: string;
  readonly accountId?: string;
}

/** `PATCH /threads/{id}` answers `{ thread: ThreadJson }`. */
export interface RenameBody {
  readonly title: string;
}

/** `PUT /threads/{id}/published` answers `{ thread: ThreadJson }`. */
export interface PublishedBody {
  readonly published: boolean;
}

/**
 * `DELETE /threads/{id}` answers `{ undoSeconds }`; `POST /threads/{id}/restore` takes it back for that long, and answers
 * `{ thread: ThreadJson }`.
 */
export interface DeletedJson {
  readonly undoSeconds: number;
}

/** `POST /threads/{id}/messages` answers 201 and `ThreadViewJson`; 400 while a reply is being written. */
export interface FollowUpBody {
  readonly prompt: string;
}

/**
 * `GET /threads/{id}`. `POST /threads/{id}/retry` (after a failure or a stop) and `POST /threads/{id}/stop` have no body and
 * answer it, too.
 */
export interface ThreadViewJson {
  readonly thread: ThreadJson & { readonly createdBy: string };
  readonly messages: readonly MessageJson[];
  readonly state: 'idle' | 'in_progress' | 'error';
}

export type MessageJson = UserMessageJson | ReplyJson;

export interface UserMessageJson {
  readonly id: string;
  readonly role: 'user';
  readonly content: string;
  readonly createdAt: string;
}

export interface ReplyJson {
  readonly id: string;
  readonly role: 'assistant';
  readonly content: string;
  readonly createdAt: string;
  readonly status: 'in_progress' | 'corroborating' | 'completed' | 'failed' | 'cancelled';
  readonly completedAt: string | null;
  readonly steps: readonly StepJson[];
  readonly sources: readonly SourceJson[] | null;
  readonly model: string | null;
  /** Quote it to support. Null for those who did not create the thread. */
  readonly traceId: string | null;
  /** Why it failed, for the thread's creator. */
  readonly failure: string | null;
  /** Null while it is being written, and for replies whose statements were not checked. */
  readonly verdict: VerdictJson | null;
}

/** How many statements a reply makes, how many of them were found in its sources, and where they are in `content`. */
export interface VerdictJson {
  /** `7 of 9 statements found in 2 sources`; of a reply that only quotes, `Quoted from 2 sources`. */
  readonly summary: string;
  readonly statements: number;
  readonly found: number;
  /** In order. A long reply has more statements than are listed. */
  readonly checked: readonly CheckedStatementJson[];
}

export interface CheckedStatementJson {
  /** In UTF-16 units; `end` is behind the last one. */
  readonly start: number;
  readonly end: number;
  /** The numbers of the sources that say it, from 1; empty where none does. */
  readonly sources: readonly number[];
}

export interface StepJson {
  readonly description: string;
  /** From the reply's creation; null where it was not kept. */
  readonly elapsedMs: number | null;
}

export interface SourceJson {
  readonly id: string;
  readonly title: string;
  readonly url: string | null;
  readonly snippet: string;
}

/**
 * `GET /threads/{id}/events`: server-sent events. The first is `view`, with all there is; a `view` also follows whatever
 * `progress` cannot say. A stream that breaks is opened again, and begins with a `view`: nothing is lost. `gone`: the
 * thread cannot be read any more, or the session has ended; the stream ends.
 */
export interface ThreadEvents {
  readonly view: ThreadViewJson & { readonly now: string };
  readonly progress: {
    readonly messageId: string;
    readonly status: ReplyJson['status'];
    /** Steps from this index on take the place of those there. */
    readonly stepsFrom: number;
    readonly steps: readonly StepJson[];
    /** The text from this index (of UTF-16 units) on takes the place of what is there. */
    readonly textFrom: number;
    readonly text: string;
  };
  readonly gone: Record<string, never>;
}

// Settings. `admin`: members get 403.

/** `GET /keys`: of admins all, of members their own. */
export interface KeysJson {
  readonly keys: readonly KeyJson[];
  /** As of keys: members see their own. */
  readonly requests: readonly KeyRequestJson[];
}

/**
 * `POST /key-requests` takes `{ name }` and answers 201 `{ id }`. `POST /key-requests/{id}/approve` and `…/decline` (admin)
 * answer `{}`. `POST /key-requests/{id}/reveal` (its owner) answers 201 `NewKeyJson`: the key exists from then on.
 */
export interface KeyRequestJson {
  readonly id: string;
  readonly name: string;
  /** The address of the member who asks. */
  readonly owner: string;
  /** Whether that is the caller. */
  readonly mine: boolean;
  readonly state: 'pending' | 'approved' | 'declined';
  readonly requestedAt: string;
  readonly expiresAt: string;
}

export interface KeyJson {
  readonly id: string;
  readonly name: string;
  /** Masked: `eak_abcd…wxyz`. */
  readonly hint: string;
  readonly scope: 'personal' | 'org-wide';
  /** The owner's address; null for an org-wide key. */
  readonly owner: string | null;
  /** The creator's address; null: the operator. */
  readonly createdBy: string | null;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  /** Ahead of now after a rotation that lets the key go on for a while. */
  readonly revokedAt: string | null;
  /** Whether the caller may rotate it: their own, and for admins org-wide ones and those of service accounts. */
  readonly rotatable: boolean;
}

/** `POST /keys/{id}/rotate` answers 201 `NewKeyJson`. */
export interface RotateKeyBody {
  /** How long the old key goes on working. */
  readonly oldValidFor: 'now' | '1h' | '24h' | '7d';
}

/** `POST /keys`, admin. `ownerId` of a personal key: the admin, or a service account; never another person (403). */
export interface NewKeyBody {
  readonly name: string;
  readonly scope: 'personal' | 'org-wide';
  readonly ownerId?: string;
}

/** 201. `POST /keys/{id}/revoke` (admin, or the key's owner) has no body and answers `{}`. */
export interface NewKeyJson {
  readonly id: string;
  /** Shown this once. */
  readonly key: string;
  /** A line for the shell that works with it. */
  readonly curl: string;
}

/** `GET /applications`, admin. */
export interface ApplicationsJson {
  readonly applications: readonly ApplicationJson[];
  /** Where applications exchange their credentials. */
  readonly tokenUrl: string;
}

export interface ApplicationJson {
  /** Also its client id. */
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly rotatedAt: string | null;
  readonly lastUsedAt: string | null;
}

/** `POST /applications`, admin. `POST /applications/{id}/rotate` has no body; both answer 201 and `ClientSecretJson`. */
export interface NewApplicationBody {
  readonly name: string;
}

/** `DELETE /applications/{id}` answers `{}`. */
export interface ClientSecretJson {
  readonly id: string;
  /** Shown this once. */
  readonly clientSecret: string;
}

/** `GET /members`, admin. */
export interface MembersJson {
  readonly members: readonly MemberJson[];
}

export interface MemberJson {
  readonly id: string;
  readonly email: string;
  readonly role: 'admin' | 'member';
  /** An account for automation, which cannot sign in. */
  readonly service: boolean;
  readonly joinedAt: string;
  /** `invited`: the link was not used yet. `expired`: it cannot be any more. Service accounts are `active`. */
  readonly state: 'active' | 'invited' | 'expired';
  readonly invitedUntil: string | null;
  /** Live personal keys, which die when the member is removed. */
  readonly keys: readonly { readonly id: string; readonly name: string; readonly hint: string }[];
}

/** `POST /members`, admin: 201 and `InvitedJson`. */
export interface NewMemberBody {
  readonly email: string;
  readonly role: 'admin' | 'member';
  readonly service: boolean;
}

/** `POST /members/{userId}/invitation`, admin, has no body and answers 201 and this, too. */
export interface InvitedJson {
  readonly id: string;
  /** To be handed to the person, and shown this once; null for a service account. */
  readonly link: string | null;
  readonly expiresAt: string | null;
}

/** `PATCH /members/{userId}`, admin, answers `{}`; 400 for the last admin. `DELETE /members/{userId}` likewise. */
export interface MemberRoleBody {
  readonly role: 'admin' | 'member';
}

/** `GET /documents`: everyone may see what replies draw on. */
export interface DocumentsJson {
  readonly documents: readonly DocumentJson[];
  /** What the organization stores, and may store. Bytes are of text, not of files. */
  readonly storage: {
    readonly documents: number;
    readonly documentsMax: number;
    readonly bytes: number;
    readonly bytesMax: number;
  };
  /** What the names of files that can be read end in. */
  readonly endings: readonly string[];
}

export interface DocumentJson {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly accountId: string | null;
  readonly passages: number;
  readonly addedAt: string;
}

/**
 * `POST /documents?name=&accountId=`, admin, with the file as the body (`application/octet-stream`), answers 201;
 * 400 where it cannot be read, and says why. `DELETE /documents/{id}`, admin, answers `{}`.
 */
export interface AddedDocumentJson {
  readonly id: string;
  readonly title: string;
  readonly passages: number;
  readonly replaced: boolean;
}

/** `GET /model` (admin). */
export interface ModelJson {
  readonly name: string;
  /** Null for a model that runs inside the service: there is nothing to test. */
  readonly provider: string | null;
}

/** `POST /model/test` (admin) has no body. 429 after five tests within ten minutes. */
export interface ModelTestJson {
  /** Null where there is no provider to ask. */
  readonly result:
    | ({ readonly model: string; readonly ms: number } & (
        | { readonly ok: true; readonly firstTextMs: number; readonly answer: string }
        | { readonly ok: false; readonly error: string; readonly nextStep: string }
      ))
    | null;
}

/** `GET /usage?days=`: 1 to 90, 30 where nothing is said. Members see the quota, and counts of their own keys. */
export interface UsageJson {
  readonly quota: { readonly limit: number; readonly used: number; readonly resetsAt: string };
  /** From the first day asked for to today, in UTC, as `2026-11-15`; also those without requests. */
  readonly days: readonly string[];
  readonly counts: readonly UsageCountJson[];
}

export interface UsageCountJson {
  readonly day: string;
  readonly credential: {
    readonly id: string;
    readonly kind: 'key' | 'application';
    readonly name: string;
  };
  readonly operation: string;
  readonly outcome: string;
  readonly requests: number;
}

/** `GET /audit?traceId=&cursor=&limit=`, admin. Newest first. */
export interface AuditJson {
  readonly events: readonly AuditEventJson[];
  readonly nextCursor: string | null;
}

export interface AuditEventJson {
  readonly id: string;
  readonly at: string;
  /** An address, `Operator` or `Skein`. */
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  readonly traceId: string;
}
