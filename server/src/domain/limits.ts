import { dayMs } from './time.ts';

/** One limit of the service: a size, a count, a rate, a budget or a time. */
interface Limit {
  readonly default: number;
  /** The environment variable that sets it. A limit without a variable is fixed. */
  readonly variable?: `SKEIN_${string}`;
  /** The smallest and largest value of the variable. `min` defaults to 1. */
  readonly min?: number;
  readonly max?: number;
  /** What it limits. The tables in docs/operating.md show this sentence. */
  readonly sentence: string;
}

/** Timers hold at most this many milliseconds. */
export const timerMsMax = 2 ** 31 - 1;

/**
 * Every limit, with its default, its variable and its sentence. HTTP, use cases, stores, console and commands read the
 * values from here: through `Context.limits`, and in the console through `SessionJson.limits`. Lengths are in code points.
 */
export const limits = {
  paginationWindow: {
    default: 10_000,
    variable: 'SKEIN_PAGINATION_WINDOW',
    sentence: 'Threads that one walk over a listing can return',
  },
  dailyQuota: {
    default: 10_000,
    variable: 'SKEIN_DAILY_QUOTA',
    min: 0,
    sentence: 'Requests per day of a new organization',
  },
  promptLengthMax: {
    default: 100_000,
    variable: 'SKEIN_PROMPT_LENGTH_MAX',
    sentence: 'Characters of a prompt',
  },
  titleLengthMax: { default: 500, variable: 'SKEIN_TITLE_LENGTH_MAX', sentence: 'Characters of a title' },
  threadMessagesMax: {
    default: 1_000,
    variable: 'SKEIN_THREAD_MESSAGES_MAX',
    // A thread is created with a prompt and its reply.
    min: 2,
    sentence: 'Messages of a thread, prompts and replies together',
  },
  threadBytesMax: {
    default: 10_485_760,
    variable: 'SKEIN_THREAD_BYTES_MAX',
    sentence:
      'Bytes of a thread (prompts, replies, steps, sources, verdicts) above which it accepts no further prompt',
  },
  linkLengthMax: {
    default: 255,
    variable: 'SKEIN_LINK_LENGTH_MAX',
    // An index key of PostgreSQL has at most 2,704 bytes, and a character up to four.
    max: 600,
    sentence: 'Characters of an `accountId` or `secondaryId`',
  },
  bodyBytesMax: {
    default: 1_048_576,
    variable: 'SKEIN_BODY_BYTES_MAX',
    max: 2 ** 30,
    sentence: 'Bytes of a request body',
  },
  requestTimeoutMs: {
    default: 30_000,
    variable: 'SKEIN_REQUEST_TIMEOUT_MS',
    min: 100,
    max: timerMsMax,
    sentence: 'How long a request may take to arrive',
  },
  replyDeadlineMs: {
    default: 600_000,
    variable: 'SKEIN_REPLY_DEADLINE_MS',
    min: 100,
    max: timerMsMax,
    sentence: 'Time after which an unfinished reply fails',
  },
  replyConcurrency: {
    default: 256,
    variable: 'SKEIN_REPLY_CONCURRENCY',
    max: 100_000,
    sentence: 'Replies written at once by one process',
  },
  replyAttempts: {
    default: 3,
    variable: 'SKEIN_REPLY_ATTEMPTS',
    max: 100,
    sentence: 'Attempts at a reply, if the model fails temporarily or the process dies',
  },
  replyLengthMax: {
    default: 200_000,
    variable: 'SKEIN_REPLY_LENGTH_MAX',
    sentence: 'Characters of a reply; a longer one fails',
  },
  modelSilenceMs: {
    default: 60_000,
    variable: 'SKEIN_MODEL_SILENCE_MS',
    min: 100,
    max: timerMsMax,
    sentence: 'How long a language model may send nothing before the attempt fails',
  },
  sessionIdleMs: {
    default: 604_800_000,
    variable: 'SKEIN_SESSION_IDLE_MS',
    min: 100,
    sentence: 'How long an unused console session lasts',
  },
  sessionLifeMs: {
    default: 2_592_000_000,
    variable: 'SKEIN_SESSION_LIFE_MS',
    min: 100,
    sentence: 'How long a console session lasts at most',
  },
  promptsPerMinute: {
    default: 60,
    variable: 'SKEIN_CONSOLE_PROMPTS_PER_MINUTE',
    sentence: 'Prompts that one person may send in the console in a minute',
  },
  promptsPerDay: {
    default: 2_000,
    variable: 'SKEIN_CONSOLE_PROMPTS_PER_DAY',
    sentence: 'Prompts that one person may send in the console in a day (UTC)',
  },
  organizationPromptsPerMinute: {
    default: 600,
    variable: 'SKEIN_CONSOLE_ORGANIZATION_PROMPTS_PER_MINUTE',
    sentence: 'Prompts that all members of an organization may send in the console in a minute',
  },
  organizationPromptsPerDay: {
    default: 20_000,
    variable: 'SKEIN_CONSOLE_ORGANIZATION_PROMPTS_PER_DAY',
    sentence: 'Prompts that all members of an organization may send in the console in a day (UTC)',
  },
  changesPerMinute: {
    default: 1_200,
    variable: 'SKEIN_CONSOLE_CHANGES_PER_MINUTE',
    sentence:
      'Changes other than uploads that one person may make in the console in a minute, in one process',
  },
  streamsPerPersonMax: {
    default: 20,
    variable: 'SKEIN_STREAMS_PER_PERSON_MAX',
    max: 10_000,
    sentence: 'Live views that one person may have open in one process; one more closes the oldest',
  },
  streamWriteTimeoutMs: {
    default: 30_000,
    variable: 'SKEIN_STREAM_WRITE_TIMEOUT_MS',
    min: 100,
    max: timerMsMax,
    sentence: 'How long a live view may leave data unread before it is closed',
  },
  documentBytesMax: {
    default: 52_428_800,
    variable: 'SKEIN_DOCUMENT_BYTES_MAX',
    max: 2 ** 30,
    sentence: 'Bytes of a document, uploaded or added by a command',
  },
  documentLengthMax: {
    default: 5_000_000,
    variable: 'SKEIN_DOCUMENT_LENGTH_MAX',
    max: 100_000_000,
    sentence: 'Characters of a document as stored, including the headings above each passage',
  },
  documentPassagesMax: {
    default: 5_000,
    variable: 'SKEIN_DOCUMENT_PASSAGES_MAX',
    max: 100_000,
    sentence: 'Passages of a document',
  },
  documentReaders: {
    default: 2,
    variable: 'SKEIN_DOCUMENT_READERS',
    max: 64,
    sentence: 'Documents that one service reads at once, each in its own process; organizations take turns',
  },
  documentReadMs: {
    default: 30_000,
    variable: 'SKEIN_DOCUMENT_READ_MS',
    min: 100,
    max: timerMsMax,
    sentence: 'How long reading one document may take',
  },
  documentReadMb: {
    default: 256,
    variable: 'SKEIN_DOCUMENT_READ_MB',
    min: 32,
    max: 65_536,
    sentence: 'Megabytes of memory for reading one document, and the same again for unpacked data',
  },
  requestLogMax: {
    default: 100_000,
    variable: 'SKEIN_REQUEST_LOG_MAX',
    min: 0,
    sentence:
      'Requests that the log of an organization keeps, besides the time that they are kept; a little more until it is cut back. 0 keeps none',
  },
  uploadsMax: {
    default: 2,
    variable: 'SKEIN_UPLOADS_MAX',
    max: 1000,
    sentence: 'Uploads of one organization in progress at once, in one process; further ones get 429',
  },
  organizationDocumentsMax: {
    default: 10_000,
    variable: 'SKEIN_ORGANIZATION_DOCUMENTS_MAX',
    sentence: 'Documents of an organization',
  },
  organizationMembersMax: {
    default: 2_000,
    variable: 'SKEIN_ORGANIZATION_MEMBERS_MAX',
    sentence: 'Members of an organization, including service accounts',
  },
  organizationBytesMax: {
    default: 1_073_741_824,
    variable: 'SKEIN_ORGANIZATION_BYTES_MAX',
    sentence: 'Bytes of text that the documents of an organization store',
  },
  mailsPerDay: {
    default: 200,
    variable: 'SKEIN_MAILS_PER_DAY',
    sentence: 'Invitations by email per organization and day',
  },
  mailsPerPerson: {
    default: 5,
    sentence: 'Invitations by email to one person per organization and day, and as many password links',
  },
  personFailuresMax: {
    default: 10,
    sentence: 'Failed sign-ins of one person or application from one place in a minute',
  },
  placeFailuresMax: { default: 100, sentence: 'Failed sign-ins from one place in a minute' },
  accountFailuresMax: {
    default: 50,
    sentence: 'Failed sign-ins of one person from all places in 15 minutes, unless the device is known',
  },
  organizationKeysMax: {
    default: 1_000,
    sentence: 'API keys of an organization that are not revoked',
  },
  revokedKeysListedMax: { default: 200, sentence: 'Revoked keys that a list of keys shows, latest first' },
  organizationApplicationsMax: { default: 100, sentence: 'Applications of an organization' },
  keyRequestsMax: { default: 3, sentence: 'Open key requests of one member' },
  headerBytesMax: { default: 16_384, sentence: 'Bytes of the request line and headers' },
  openBodyBytesMax: {
    default: 16_384,
    sentence: 'Bytes of a request body without a credential: sign-in, invitations, `/oauth2/token`',
  },
  bodyDepthMax: { default: 32, sentence: 'Levels of nesting in a JSON body' },
  bodyKeysMax: { default: 1_000, sentence: 'Keys in a JSON body' },
  walkMsMax: {
    default: dayMs,
    sentence: 'Milliseconds from the first to the last page of a walk; older cursors are rejected',
  },
  pageSizeMax: { default: 100, sentence: 'Threads per page' },
  idempotencyKeyLengthMax: { default: 255, sentence: 'Characters of an `Idempotency-Key`' },
  documentNameLengthMax: { default: 600, sentence: 'Characters of the path or name of a document' },
  documentTitleLengthMax: {
    default: 255,
    sentence: 'Characters of the title of a document; the rest is cut',
  },
  documentUrlLengthMax: {
    default: 2048,
    sentence: 'Characters of the URL of a document; a longer one is dropped',
  },
  headingLengthMax: { default: 200, sentence: 'Characters of a heading in a document; the rest is cut' },
  ratingCommentLengthMax: { default: 1_000, sentence: 'Characters of the comment on a reply' },
  nameLengthMax: { default: 255, sentence: 'Characters of the name of a key or an application' },
} as const satisfies Readonly<Record<string, Limit>>;

type LimitName = keyof typeof limits;
/** The value of every limit in one process. */
export type Limits = Readonly<Record<LimitName, number>>;
export type LimitVariable = Extract<(typeof limits)[LimitName], { variable: string }>['variable'];

/** The limits in the order of the table above. */
export const limitEntries = Object.entries(limits) as readonly (readonly [LimitName, Limit])[];

/** The value that `choose` returns for each limit. */
export function limitValues(choose: (limit: Limit) => number): Limits {
  return Object.fromEntries(limitEntries.map(([name, limit]) => [name, choose(limit)])) as Record<
    LimitName,
    number
  >;
}

/** Formats a size like `50 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 1024 ** step).toFixed(1))} ${units[step]}`;
}

/** The limits when no variable is set. */
export const defaultLimits: Limits = limitValues((limit) => limit.default);
