import { type RotationGrace, rotationGraces } from '../../domain/credential.ts';
import { errorCodes } from '../../domain/errors.ts';
import { type Limits, limits } from '../../domain/limits.ts';
import {
  boolean,
  count,
  integer,
  nullable,
  number,
  object,
  string,
  Type,
  text,
  textFormat,
  time,
} from '../schema.ts';
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

export const rotateKeyBody = object({
  oldValidFor: Type.Enum(Object.keys(rotationGraces) as RotationGrace[]),
});

export const keySchema = object({
  id: string,
  name: string,
  /** Masked: `eak_abcd…wxyz`. */
  hint: string,
  scope,
  /** The owner's address; null for an org-wide key. */
  owner: nullable(string),
  /** The creator's address; null for the operator. */
  createdBy: nullable(string),
  createdAt: time,
  lastUsedAt: nullable(time),
  /** In the future after a rotation that keeps the old key valid for a while. */
  revokedAt: nullable(time),
  /** Whether the caller may rotate it. Members may rotate their own keys; admins also org-wide and service account keys. */
  rotatable: boolean,
});

export const keyRequestSchema = object({
  id: string,
  name: string,
  owner: string,
  mine: boolean,
  state: Type.Enum(['pending', 'approved', 'declined']),
  requestedAt: time,
  expiresAt: time,
});

/** Admins see all keys and requests, members their own. */
export const keysSchema = object({ keys: Type.Array(keySchema), requests: Type.Array(keyRequestSchema) });

export const keyRequestedSchema = object({ id: string });

export const newKeySchema = object({
  id: string,
  /** Shown only in this response. */
  key: string,
  curl: string,
});

export const applicationSchema = object({
  /** Also its client ID. */
  id: string,
  name: string,
  createdAt: time,
  rotatedAt: nullable(time),
  lastUsedAt: nullable(time),
});

export const applicationsSchema = object({
  applications: Type.Array(applicationSchema),
  tokenUrl: string,
});

export const clientSecretSchema = object({
  id: string,
  /** Shown only in this response. */
  clientSecret: string,
});

export const newMemberBody = object({ email: text(0, 254), role, service: boolean });
export const memberRoleBody = object({ role });

export const memberSchema = object({
  id: string,
  email: string,
  role,
  service: boolean,
  joinedAt: time,
  /** `invited`: the link was not used yet. `expired`: it can no longer be used. */
  state: Type.Enum(['active', 'invited', 'expired']),
  invitedUntil: nullable(time),
  /** Whether the invitation was emailed; null if it is not sent by email. */
  mailState: nullable(Type.Enum(['waiting', 'sent', 'failed'])),
  /** Valid personal keys, which are revoked when the member is removed. */
  keys: Type.Array(object({ id: string, name: string, hint: string })),
});

export const membersSchema = object({ members: Type.Array(memberSchema), sendsMail: boolean });

export const invitedSchema = object({
  id: string,
  /** For the person, and shown only in this response. Null if it is sent by email, and for a service account. */
  link: nullable(string),
  mailed: boolean,
  expiresAt: nullable(time),
});

export const documentSchema = object({
  id: string,
  name: string,
  title: string,
  accountId: nullable(string),
  passages: count,
  addedAt: time,
});

export const documentsSchema = object({
  documents: Type.Array(documentSchema),
  /** How much the organization stores, and how much it may store. Bytes are of text, not of files. */
  storage: object({ documents: count, documentsMax: count, bytes: count, bytesMax: count }),
  endings: Type.Array(string),
});

/** A document to read. Its passages are counted from 0. */
export const openedDocumentSchema = object({
  ...documentSchema.properties,
  url: nullable(string),
  /** With the positions of their first passages. A long document has more headings than are listed. */
  headings: Type.Array(object({ heading: string, position: count })),
  /** Null if the document does not contain the cited text. */
  citedPosition: nullable(count),
});

export const passagesSchema = object({ passages: Type.Array(object({ heading: string, text: string })) });

export const questionBody = ({ linkLengthMax }: Limits) =>
  object({
    question: text(1, 1_000),
    accountId: Type.Optional(text(1, linkLengthMax)),
    /** Whether it has been asked before. It then does not count as a prompt. */
    asked: Type.Optional(boolean),
  });

/** The passages that a reply to the question would use, best first. */
export const foundPassagesSchema = object({
  searched: count,
  passages: Type.Array(
    object({
      documentId: string,
      title: string,
      url: nullable(string),
      heading: string,
      text: string,
    }),
  ),
});

export const addedDocumentSchema = object({
  id: string,
  title: string,
  passages: count,
  /** Whether it replaced a document of the same name. */
  replaced: boolean,
});

/** A request counts as one change, so it has few ids. */
export const removedDocumentsBody = object({ ids: Type.Array(text(1, 100), { minItems: 1, maxItems: 100 }) });

export const removedDocumentsSchema = object({
  /** How many of the ids were handled. Send the others in the next request. */
  handled: count,
  /** Does not include documents that had already been removed. */
  removed: count,
});

export const examplesSchema = object({ questions: Type.Array(string) });

export const firstStepsSchema = object({
  asked: boolean,
  hasDocument: boolean,
  hasKey: boolean,
  hasInvited: boolean,
});

export const modelSchema = object({
  name: string,
  /** Null for a model that runs inside the service: there is nothing to test. */
  provider: nullable(string),
});

const modelTest = { model: string, ms: number };
export const modelTestSchema = object({
  /** Null where there is no provider to ask. */
  result: nullable(
    Type.Union([
      object({ ...modelTest, ok: Type.Literal(true), firstTextMs: number, answer: string }),
      object({ ...modelTest, ok: Type.Literal(false), error: string, nextStep: string }),
    ]),
  ),
});

const credentialSchema = object({ id: string, kind: Type.Enum(['key', 'application']), name: string });

export const usageCountSchema = object({
  /** A day in UTC, as in `2026-11-15`, or the time at which an hour starts. */
  period: string,
  /** Null by the hour. */
  credential: nullable(credentialSchema),
  operation: string,
  outcome: string,
  requests: count,
});

export const usageRange = Type.Enum(['24h', '7d', '30d', '90d']);

/** In milliseconds, estimated; null without requests. */
const percentiles = { p50: nullable(number), p95: nullable(number), p99: nullable(number) };

export const trafficSchema = object({
  operations: Type.Array(object({ operation: string, requests: count, errors: count, ...percentiles })),
  errors: Type.Array(object({ code: string, requests: count })),
  replies: object({ completed: count, failed: count, cancelled: count, ...percentiles }),
});

/** Members see the quota, and the counts of their own keys. */
export const usageSchema = object({
  quota: object({ limit: count, used: count, resetsAt: time }),
  /** Every day, or every hour of the last 24, including the current one. */
  periods: Type.Array(string),
  counts: Type.Array(usageCountSchema),
  /** Whether counts of earlier days are left out. */
  isCut: boolean,
  /** Null for members. */
  traffic: nullable(trafficSchema),
});

export const auditEventSchema = object({
  id: string,
  at: time,
  /** An address, `Operator` or `Skein`. */
  actor: string,
  action: string,
  subject: string,
  /** The name or address of the subject; null if it has none. */
  target: nullable(string),
  detail: Type.Unsafe<Record<string, string | number | boolean | null>>({
    type: 'object',
    additionalProperties: Type.Union([string, number, boolean, Type.Null()]),
  }),
  traceId: string,
  /** Whether the request log has the API request with this trace ID. */
  isLogged: boolean,
});

/** A filter of a log. Days are in UTC, both included. */
const logQuery = {
  traceId: Type.Optional(text(1, 255)),
  from: Type.Optional(day),
  to: Type.Optional(day),
};

export const auditQuery = {
  ...logQuery,
  /** A user's id, `operator` or `skein`. */
  actor: Type.Optional(text(1, 64)),
  action: Type.Optional(text(1, 64)),
};

/** Newest first. With a filter, a page may be empty and still have a next one. */
export const auditSchema = object({ events: Type.Array(auditEventSchema), nextCursor: nullable(string) });

export const requestQuery = {
  ...logQuery,
  /** A class of statuses, or an error code. */
  status: Type.Optional(Type.Enum(['2xx', '3xx', '4xx', '5xx', ...errorCodes])),
  operation: Type.Optional(text(1, 64)),
  credentialId: Type.Optional(text(1, 64)),
};

export const requestSchema = object({
  /** The trace ID. */
  id: string,
  at: time,
  method: string,
  /** The operation's id in the OpenAPI document; `unknown` if the URL matches none. */
  operation: string,
  status: integer,
  ms: number,
  credential: credentialSchema,
  error: nullable(object({ code: string, message: string })),
});

/** Newest first. With a filter, a page may be empty and still have a next one. */
export const requestsSchema = object({
  requests: Type.Array(requestSchema),
  nextCursor: nullable(string),
  /** How far back was searched; null: to the end of the log. */
  searchedTo: nullable(time),
  /** How many days a request is kept; null: forever. */
  keptDays: nullable(number),
});
