import { errorCodes } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';
import { count, type Json, nullable, object, Type, text, textFormat, time } from '../schema.ts';
import { role } from './session-schemas.ts';

const name = text(1, limits.nameLengthMax.default);
export const nameBody = object({ name });

/** A day in UTC, as in `2026-11-15`. */
const day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' });

const scope = Type.Enum(['personal', 'org-wide']);

/** The owner of a personal key is the admin or a service account, never another person. */
export const newKeyBody = object({
  name,
  scope,
  ownerId: Type.Optional(Type.String({ format: textFormat })),
});

export const rotateKeyBody = object({ oldValidFor: Type.Enum(['now', '1h', '24h', '7d']) });
export type RotateKeyBody = Json<typeof rotateKeyBody>;

const keySchema = object({
  id: Type.String(),
  name: Type.String(),
  /** Masked: `eak_abcd…wxyz`. */
  hint: Type.String(),
  scope,
  /** The owner's address; null for an org-wide key. */
  owner: nullable(Type.String()),
  /** The creator's address; null for the operator. */
  createdBy: nullable(Type.String()),
  createdAt: time,
  lastUsedAt: nullable(time),
  /** In the future after a rotation that keeps the old key valid for a while. */
  revokedAt: nullable(time),
  /** Whether the caller may rotate it: their own, and for admins org-wide ones and those of service accounts. */
  rotatable: Type.Boolean(),
});
export type KeyJson = Json<typeof keySchema>;

const keyRequestSchema = object({
  id: Type.String(),
  name: Type.String(),
  /** The address of the member who requested it. */
  owner: Type.String(),
  mine: Type.Boolean(),
  state: Type.Enum(['pending', 'approved', 'declined']),
  requestedAt: time,
  expiresAt: time,
});
export type KeyRequestJson = Json<typeof keyRequestSchema>;

/** Admins see all keys and requests, members their own. */
export const keysSchema = object({ keys: Type.Array(keySchema), requests: Type.Array(keyRequestSchema) });
export type KeysJson = Json<typeof keysSchema>;

export const keyRequestedSchema = object({ id: Type.String() });

export const newKeySchema = object({
  id: Type.String(),
  /** Shown only in this response. */
  key: Type.String(),
  /** A shell command that uses it. */
  curl: Type.String(),
});
export type NewKeyJson = Json<typeof newKeySchema>;

const applicationSchema = object({
  /** Also its client id. */
  id: Type.String(),
  name: Type.String(),
  createdAt: time,
  rotatedAt: nullable(time),
  lastUsedAt: nullable(time),
});
export type ApplicationJson = Json<typeof applicationSchema>;

export const applicationsSchema = object({
  applications: Type.Array(applicationSchema),
  /** Where applications exchange their credentials for access tokens. */
  tokenUrl: Type.String(),
});
export type ApplicationsJson = Json<typeof applicationsSchema>;

export const clientSecretSchema = object({
  id: Type.String(),
  /** Shown only in this response. */
  clientSecret: Type.String(),
});
export type ClientSecretJson = Json<typeof clientSecretSchema>;

export const newMemberBody = object({ email: text(0, 254), role, service: Type.Boolean() });
export const memberRoleBody = object({ role });

const memberSchema = object({
  id: Type.String(),
  email: Type.String(),
  role,
  service: Type.Boolean(),
  joinedAt: time,
  /** `invited`: the link was not used yet. `expired`: it can no longer be used. */
  state: Type.Enum(['active', 'invited', 'expired']),
  invitedUntil: nullable(time),
  /** Whether the invitation was sent by mail; null if it is not sent by mail. */
  mailState: nullable(Type.Enum(['waiting', 'sent', 'failed'])),
  /** Valid personal keys, which are revoked when the member is removed. */
  keys: Type.Array(object({ id: Type.String(), name: Type.String(), hint: Type.String() })),
});
export type MemberJson = Json<typeof memberSchema>;

export const membersSchema = object({
  members: Type.Array(memberSchema),
  sendsMail: Type.Boolean(),
});
export type MembersJson = Json<typeof membersSchema>;

export const invitedSchema = object({
  id: Type.String(),
  /** For the person, and shown only in this response. Null if it is sent by mail, and for a service account. */
  link: nullable(Type.String()),
  mailed: Type.Boolean(),
  expiresAt: nullable(time),
});
export type InvitedJson = Json<typeof invitedSchema>;

const documentSchema = object({
  id: Type.String(),
  name: Type.String(),
  title: Type.String(),
  accountId: nullable(Type.String()),
  passages: count,
  addedAt: time,
});
export type DocumentJson = Json<typeof documentSchema>;

export const documentsSchema = object({
  documents: Type.Array(documentSchema),
  /** How much the organization stores, and how much it may store. Bytes are of text, not of files. */
  storage: object({ documents: count, documentsMax: count, bytes: count, bytesMax: count }),
  endings: Type.Array(Type.String()),
});
export type DocumentsJson = Json<typeof documentsSchema>;

/** A document to read. Its passages are counted from 0. */
export const openedDocumentSchema = object({
  ...documentSchema.properties,
  url: nullable(Type.String()),
  /** With the positions of their first passages. A long document has more headings than are listed. */
  headings: Type.Array(object({ heading: Type.String(), position: count })),
  /** Null if the document does not contain the cited text. */
  citedPosition: nullable(count),
});
export type OpenedDocumentJson = Json<typeof openedDocumentSchema>;

export const passagesSchema = object({
  passages: Type.Array(object({ heading: Type.String(), text: Type.String() })),
});
export type PassagesJson = Json<typeof passagesSchema>;

export const questionBody = object({
  question: text(1, 1_000),
  accountId: Type.Optional(text(1, limits.linkLengthMax.default)),
  /** Whether somebody has asked it already: it then does not count as a prompt. */
  asked: Type.Optional(Type.Boolean()),
});

/** The passages that a reply to the question would use, best first. */
export const foundPassagesSchema = object({
  searched: count,
  passages: Type.Array(
    object({
      documentId: Type.String(),
      title: Type.String(),
      url: nullable(Type.String()),
      heading: Type.String(),
      text: Type.String(),
      /** From 0: how much of the question the passage has. */
      score: Type.Number(),
    }),
  ),
});
export type FoundPassagesJson = Json<typeof foundPassagesSchema>;

export const addedDocumentSchema = object({
  id: Type.String(),
  title: Type.String(),
  passages: count,
  /** Whether it replaced a document of the same name. */
  replaced: Type.Boolean(),
});
export type AddedDocumentJson = Json<typeof addedDocumentSchema>;

/** A request counts as one change, so it has few ids. */
export const removedDocumentsBody = object({ ids: Type.Array(text(1, 100), { minItems: 1, maxItems: 100 }) });

export const removedDocumentsSchema = object({
  /** How many of the ids were handled. Send the others in the next request. */
  handled: count,
  /** Does not include documents that had already been removed. */
  removed: count,
});
export type RemovedDocumentsJson = Json<typeof removedDocumentsSchema>;

export const examplesSchema = object({ questions: Type.Array(Type.String()) });
export type ExamplesJson = Json<typeof examplesSchema>;

/** What the admin of a new organization has done. */
export const firstStepsSchema = object({
  asked: Type.Boolean(),
  hasDocument: Type.Boolean(),
  hasKey: Type.Boolean(),
  hasInvited: Type.Boolean(),
});
export type FirstStepsJson = Json<typeof firstStepsSchema>;

export const modelSchema = object({
  name: Type.String(),
  /** Null for a model that runs inside the service: there is nothing to test. */
  provider: nullable(Type.String()),
});
export type ModelJson = Json<typeof modelSchema>;

const modelTest = { model: Type.String(), ms: Type.Number() };
export const modelTestSchema = object({
  /** Null where there is no provider to ask. */
  result: nullable(
    Type.Union([
      object({ ...modelTest, ok: Type.Literal(true), firstTextMs: Type.Number(), answer: Type.String() }),
      object({ ...modelTest, ok: Type.Literal(false), error: Type.String(), nextStep: Type.String() }),
    ]),
  ),
});
export type ModelTestJson = Json<typeof modelTestSchema>;

const credentialSchema = object({
  id: Type.String(),
  kind: Type.Enum(['key', 'application']),
  name: Type.String(),
});

const usageCountSchema = object({
  /** A day in UTC, as in `2026-11-15`, or the time at which an hour starts. */
  period: Type.String(),
  /** Null by the hour. */
  credential: nullable(credentialSchema),
  operation: Type.String(),
  outcome: Type.String(),
  requests: count,
});
export type UsageCountJson = Json<typeof usageCountSchema>;

export const usageRange = Type.Enum(['24h', '7d', '30d', '90d']);

/** In milliseconds, estimated; null without requests. */
const percentiles = {
  p50: nullable(Type.Number()),
  p95: nullable(Type.Number()),
  p99: nullable(Type.Number()),
};

const trafficSchema = object({
  operations: Type.Array(
    object({ operation: Type.String(), requests: count, errors: count, ...percentiles }),
  ),
  errors: Type.Array(object({ code: Type.String(), requests: count })),
  replies: object({ completed: count, failed: count, cancelled: count, ...percentiles }),
});
export type TrafficJson = Json<typeof trafficSchema>;

/** Members see the quota, and the counts of their own keys. */
export const usageSchema = object({
  quota: object({ limit: count, used: count, resetsAt: time }),
  /** Every day, or every hour of the last 24, including the current one. */
  periods: Type.Array(Type.String()),
  counts: Type.Array(usageCountSchema),
  /** Whether counts of earlier days are left out. */
  isCut: Type.Boolean(),
  /** Null for members. */
  traffic: nullable(trafficSchema),
});
export type UsageJson = Json<typeof usageSchema>;

const auditEventSchema = object({
  id: Type.String(),
  at: time,
  /** An address, `Operator` or `Skein`. */
  actor: Type.String(),
  action: Type.String(),
  subject: Type.String(),
  /** The name or address of the subject; null if it has none. */
  target: nullable(Type.String()),
  detail: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()])),
  traceId: Type.String(),
  /** Whether the request log has the API request with this trace id. */
  isLogged: Type.Boolean(),
});
export type AuditEventJson = Json<typeof auditEventSchema>;

/** A filter of the audit log. Days are in UTC, both included. */
export const auditQuery = {
  traceId: Type.Optional(text(1, 255)),
  /** A user's id, `operator` or `skein`. */
  actor: Type.Optional(text(1, 64)),
  action: Type.Optional(text(1, 64)),
  from: Type.Optional(day),
  to: Type.Optional(day),
};

/** Newest first. With a filter, a page may be empty and still have a next one. */
export const auditSchema = object({
  events: Type.Array(auditEventSchema),
  nextCursor: nullable(Type.String()),
});
export type AuditJson = Json<typeof auditSchema>;

/** A filter of the request log. Days are in UTC, both included. */
export const requestQuery = {
  traceId: Type.Optional(text(1, 255)),
  /** A class of statuses, or an error code. */
  status: Type.Optional(Type.Enum(['2xx', '3xx', '4xx', '5xx', ...errorCodes])),
  operation: Type.Optional(text(1, 64)),
  credentialId: Type.Optional(text(1, 64)),
  from: Type.Optional(day),
  to: Type.Optional(day),
};

const requestSchema = object({
  /** The trace id. */
  id: Type.String(),
  at: time,
  method: Type.String(),
  /** The operation's id in the OpenAPI document; `unknown` if the address matches none. */
  operation: Type.String(),
  status: Type.Integer(),
  ms: Type.Number(),
  credential: credentialSchema,
  /** The error message; null if the request succeeded. */
  error: nullable(object({ code: Type.String(), message: Type.String() })),
});
export type RequestJson = Json<typeof requestSchema>;

/** Newest first. With a filter, a page may be empty and still have a next one. */
export const requestsSchema = object({
  requests: Type.Array(requestSchema),
  nextCursor: nullable(Type.String()),
  /** How far back was searched; null: to the end of the log. */
  searchedTo: nullable(time),
  /** How many days a request is kept; null: forever. */
  keptDays: nullable(Type.Number()),
});
export type RequestsJson = Json<typeof requestsSchema>;
