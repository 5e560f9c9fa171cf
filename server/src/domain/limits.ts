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

/** A limit that the operator can set. */
function setting<Name extends `SKEIN_${string}`>(
  variable: Name,
  value: number,
  sentence: string,
  range: Pick<Limit, 'min' | 'max'> = {},
) {
  return { variable, default: value, sentence, ...range };
}

function fixed(value: number, sentence: string): Limit {
  return { default: value, sentence };
}

/** Timers hold at most this many milliseconds. */
export const timerMsMax = 2 ** 31 - 1;
const timerRange = { min: 100, max: timerMsMax };

/**
 * Every limit, with its default, its variable and its sentence. HTTP, use cases, stores, console and commands read the
 * values from here: through `Context.limits`, and in the console through `SessionJson.limits`. Lengths are in code points.
 */
export const limits = {
  paginationWindow: setting(
    'SKEIN_PAGINATION_WINDOW',
    10_000,
    'Threads that one walk over a listing can return',
  ),
  dailyQuota: setting('SKEIN_DAILY_QUOTA', 10_000, 'Requests per day of a new organization', { min: 0 }),
  promptLengthMax: setting('SKEIN_PROMPT_LENGTH_MAX', 100_000, 'Characters of a prompt'),
  titleLengthMax: setting('SKEIN_TITLE_LENGTH_MAX', 500, 'Characters of a title'),
  // A thread is created with a prompt and its reply.
  threadMessagesMax: setting(
    'SKEIN_THREAD_MESSAGES_MAX',
    1_000,
    'Messages of a thread, prompts and replies together',
    { min: 2 },
  ),
  threadBytesMax: setting(
    'SKEIN_THREAD_BYTES_MAX',
    10_485_760,
    'Bytes of a thread (prompts, replies, steps, sources, verdicts) above which it accepts no further prompt',
  ),
  // An index key of PostgreSQL has at most 2,704 bytes, and a character up to four.
  linkLengthMax: setting('SKEIN_LINK_LENGTH_MAX', 255, 'Characters of an `accountId` or `secondaryId`', {
    max: 600,
  }),
  bodyBytesMax: setting('SKEIN_BODY_BYTES_MAX', 1_048_576, 'Bytes of a request body', { max: 2 ** 30 }),
  requestTimeoutMs: setting(
    'SKEIN_REQUEST_TIMEOUT_MS',
    30_000,
    'How long a request may take to arrive',
    timerRange,
  ),
  replyDeadlineMs: setting(
    'SKEIN_REPLY_DEADLINE_MS',
    600_000,
    'Time after which an unfinished reply fails',
    timerRange,
  ),
  replyConcurrency: setting('SKEIN_REPLY_CONCURRENCY', 256, 'Replies written at once by one process', {
    max: 100_000,
  }),
  replyAttempts: setting(
    'SKEIN_REPLY_ATTEMPTS',
    3,
    'Attempts at a reply, if the model fails temporarily or the process dies',
    { max: 100 },
  ),
  replyLengthMax: setting('SKEIN_REPLY_LENGTH_MAX', 200_000, 'Characters of a reply; a longer one fails'),
  modelSilenceMs: setting(
    'SKEIN_MODEL_SILENCE_MS',
    60_000,
    'How long a language model may send nothing before the attempt fails',
    timerRange,
  ),
  sessionIdleMs: setting('SKEIN_SESSION_IDLE_MS', 604_800_000, 'How long an unused console session lasts', {
    min: 100,
  }),
  sessionLifeMs: setting('SKEIN_SESSION_LIFE_MS', 2_592_000_000, 'How long a console session lasts at most', {
    min: 100,
  }),
  promptsPerMinute: setting(
    'SKEIN_CONSOLE_PROMPTS_PER_MINUTE',
    60,
    'Prompts that one person may send in the console in a minute',
  ),
  promptsPerDay: setting(
    'SKEIN_CONSOLE_PROMPTS_PER_DAY',
    2_000,
    'Prompts that one person may send in the console in a day (UTC)',
  ),
  organizationPromptsPerMinute: setting(
    'SKEIN_CONSOLE_ORGANIZATION_PROMPTS_PER_MINUTE',
    600,
    'Prompts that all members of an organization may send in the console in a minute',
  ),
  organizationPromptsPerDay: setting(
    'SKEIN_CONSOLE_ORGANIZATION_PROMPTS_PER_DAY',
    20_000,
    'Prompts that all members of an organization may send in the console in a day (UTC)',
  ),
  changesPerMinute: setting(
    'SKEIN_CONSOLE_CHANGES_PER_MINUTE',
    1_200,
    'Changes other than uploads that one person may make in the console in a minute, in one process',
  ),
  streamsPerPersonMax: setting(
    'SKEIN_STREAMS_PER_PERSON_MAX',
    20,
    'Live views that one person may have open in one process; one more closes the oldest',
    { max: 10_000 },
  ),
  streamWriteTimeoutMs: setting(
    'SKEIN_STREAM_WRITE_TIMEOUT_MS',
    30_000,
    'How long a live view may leave data unread before it is closed',
    timerRange,
  ),
  documentBytesMax: setting(
    'SKEIN_DOCUMENT_BYTES_MAX',
    52_428_800,
    'Bytes of a document, uploaded or added by a command',
    { max: 2 ** 30 },
  ),
  documentLengthMax: setting(
    'SKEIN_DOCUMENT_LENGTH_MAX',
    5_000_000,
    'Characters of a document as stored, including the headings above each passage',
    { max: 100_000_000 },
  ),
  documentPassagesMax: setting('SKEIN_DOCUMENT_PASSAGES_MAX', 5_000, 'Passages of a document', {
    max: 100_000,
  }),
  documentReaders: setting(
    'SKEIN_DOCUMENT_READERS',
    2,
    'Documents that one service reads at once, each in its own process; organizations take turns',
    { max: 64 },
  ),
  documentReadMs: setting(
    'SKEIN_DOCUMENT_READ_MS',
    30_000,
    'How long reading one document may take',
    timerRange,
  ),
  documentReadMb: setting(
    'SKEIN_DOCUMENT_READ_MB',
    256,
    'Megabytes of memory for reading one document, and the same again for unpacked data',
    { min: 32, max: 65_536 },
  ),
  requestLogMax: setting(
    'SKEIN_REQUEST_LOG_MAX',
    100_000,
    'Requests that the log of an organization keeps, besides the time that they are kept; a little more until it is cut back. 0 keeps none',
    { min: 0 },
  ),
  uploadsMax: setting(
    'SKEIN_UPLOADS_MAX',
    2,
    'Uploads of one organization in progress at once, in one process; further ones get 429',
    { max: 1000 },
  ),
  organizationDocumentsMax: setting(
    'SKEIN_ORGANIZATION_DOCUMENTS_MAX',
    10_000,
    'Documents of an organization',
  ),
  organizationMembersMax: setting(
    'SKEIN_ORGANIZATION_MEMBERS_MAX',
    2_000,
    'Members of an organization, including service accounts',
  ),
  organizationBytesMax: setting(
    'SKEIN_ORGANIZATION_BYTES_MAX',
    1_073_741_824,
    'Bytes of text that the documents of an organization store',
  ),
  mailsPerDay: setting('SKEIN_MAILS_PER_DAY', 200, 'Invitations by email per organization and day'),
  mailsPerPerson: fixed(
    5,
    'Invitations by email to one person per organization and day, and as many password links',
  ),
  personFailuresMax: fixed(10, 'Failed sign-ins of one person or application from one place in a minute'),
  placeFailuresMax: fixed(100, 'Failed sign-ins from one place in a minute'),
  accountFailuresMax: fixed(
    50,
    'Failed sign-ins of one person from all places in 15 minutes, unless the device is known',
  ),
  organizationKeysMax: fixed(1_000, 'API keys of an organization that are not revoked'),
  revokedKeysListedMax: fixed(200, 'Revoked keys that a list of keys shows, latest first'),
  organizationApplicationsMax: fixed(100, 'Applications of an organization'),
  keyRequestsMax: fixed(3, 'Open key requests of one member'),
  headerBytesMax: fixed(16_384, 'Bytes of the request line and headers'),
  openBodyBytesMax: fixed(
    16_384,
    'Bytes of a request body without a credential: sign-in, invitations, `/oauth2/token`',
  ),
  bodyDepthMax: fixed(32, 'Levels of nesting in a JSON body'),
  bodyKeysMax: fixed(1_000, 'Keys in a JSON body'),
  walkMsMax: fixed(
    dayMs,
    'Milliseconds from the first to the last page of a walk; older cursors are rejected',
  ),
  pageSizeMax: fixed(100, 'Threads per page'),
  idempotencyKeyLengthMax: fixed(255, 'Characters of an `Idempotency-Key`'),
  documentNameLengthMax: fixed(600, 'Characters of the path or name of a document'),
  documentTitleLengthMax: fixed(255, 'Characters of the title of a document; the rest is cut'),
  documentUrlLengthMax: fixed(2048, 'Characters of the URL of a document; a longer one is dropped'),
  headingLengthMax: fixed(200, 'Characters of a heading in a document; the rest is cut'),
  ratingCommentLengthMax: fixed(1_000, 'Characters of the comment on a reply'),
  nameLengthMax: fixed(255, 'Characters of the name of a key or an application'),
} satisfies Readonly<Record<string, Limit>>;

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
