import { dayMs } from './time.ts';

/** One limit of the service: a size, a count, a rate, a budget or a time. */
interface Limit {
  readonly default: number;
  /** What it limits. The tables in docs/settings.md show this sentence. */
  readonly sentence: string;
  /** The environment variable that sets it. A limit without a variable is fixed. */
  readonly variable?: LimitVariable;
  /** The smallest and largest value of the variable. `min` defaults to 1. */
  readonly min?: number;
  readonly max?: number;
}

function limit(value: number, sentence: string, range: Pick<Limit, 'min' | 'max'> = {}): Limit {
  return { default: value, sentence, ...range };
}

/** Memory for objects that a store keeps. Defined here so that commands without a store do not load its cache. */
export const cacheBytesDefault = 64 * 1024 * 1024;

/** Timers hold at most this many milliseconds. */
export const timerMsMax = 2 ** 31 - 1;
const timerRange = { min: 100, max: timerMsMax };

/** What the operator can set. The name of a variable follows from that of its limit: `SKEIN_PAGINATION_WINDOW`. */
const settings = {
  paginationWindow: limit(
    10_000,
    'Threads that a walk returns at most if the listing was longer when it started',
  ),
  dailyQuota: limit(10_000, 'Requests per day of a new organization', { min: 0 }),
  promptLengthMax: limit(100_000, 'Characters of a prompt'),
  titleLengthMax: limit(500, 'Characters of a title'),
  // A thread is created with a prompt and its reply.
  threadMessagesMax: limit(1_000, 'Messages of a thread, prompts and replies together', { min: 2 }),
  threadBytesMax: limit(
    10_485_760,
    'Bytes of a thread (prompts, replies, steps, sources, verdicts) above which it accepts no further prompt',
  ),
  // An index key of PostgreSQL has at most 2,704 bytes, and a character up to four.
  linkLengthMax: limit(255, 'Characters of an `accountId` or `secondaryId`', { max: 600 }),
  bodyBytesMax: limit(1_048_576, 'Bytes of a request body', { max: 2 ** 30 }),
  requestTimeoutMs: limit(30_000, 'How long a request may take to arrive', timerRange),
  replyDeadlineMs: limit(600_000, 'Time after which an unfinished reply fails', timerRange),
  replyConcurrency: limit(256, 'Replies written at once by one process', { max: 100_000 }),
  replyAttempts: limit(3, 'Attempts at a reply, if the model fails temporarily', { max: 100 }),
  replyLengthMax: limit(200_000, 'Characters of a reply; a longer one fails'),
  modelSilenceMs: limit(
    60_000,
    'How long a language model may send nothing before the attempt fails',
    timerRange,
  ),
  sessionIdleMs: limit(604_800_000, 'How long an unused console session lasts', { min: 100 }),
  sessionLifeMs: limit(2_592_000_000, 'How long a console session lasts at most', { min: 100 }),
  consolePromptsPerMinute: limit(60, 'Prompts that one person may send in the console in a minute'),
  consolePromptsPerDay: limit(2_000, 'Prompts that one person may send in the console in a day (UTC)'),
  consoleOrganizationPromptsPerMinute: limit(
    600,
    'Prompts that all members of an organization may send in the console in a minute',
  ),
  consoleOrganizationPromptsPerDay: limit(
    20_000,
    'Prompts that all members of an organization may send in the console in a day (UTC)',
  ),
  consoleChangesPerMinute: limit(
    1_200,
    'Changes other than uploads that a member may make in the console in a minute, in one process',
  ),
  streamsPerPersonMax: limit(
    20,
    'Live views that a member may have open in one process; one more closes the oldest',
    { max: 10_000 },
  ),
  streamWriteTimeoutMs: limit(
    30_000,
    'How long a live view may leave data unread before it is closed',
    timerRange,
  ),
  documentBytesMax: limit(52_428_800, 'Bytes of a document, uploaded or added by a command', {
    max: 2 ** 30,
  }),
  documentLengthMax: limit(
    5_000_000,
    'Characters of a document as stored, including the headings above each passage',
    { max: 100_000_000 },
  ),
  documentPassagesMax: limit(5_000, 'Passages of a document', { max: 100_000 }),
  documentReaders: limit(
    2,
    'Documents that one service reads at once, each in its own process; organizations take turns',
    { max: 64 },
  ),
  documentReadMs: limit(30_000, 'How long reading one document may take', timerRange),
  documentReadMb: limit(
    256,
    'Megabytes of memory for reading one document, and the same again for unpacked data',
    // A process takes up to 116 MB before it reads anything.
    { min: 64, max: 65_536 },
  ),
  requestLogMax: limit(
    100_000,
    'Entries that the request log of an organization keeps; it may hold slightly more for a moment. 0 turns the log off',
    { min: 0 },
  ),
  uploadsMax: limit(
    2,
    'Uploads of one organization in progress at once, in one process; further ones get 429',
    { max: 1000 },
  ),
  organizationDocumentsMax: limit(10_000, 'Documents of an organization'),
  organizationMembersMax: limit(2_000, 'Members of an organization, including service accounts'),
  organizationBytesMax: limit(1_073_741_824, 'Bytes of text that the documents of an organization store'),
  mailsPerDay: limit(200, 'Invitations by email per organization and day'),
};

const fixed = {
  mailsPerPerson: limit(
    5,
    'Invitations by email to one person per organization and day, and as many password links',
  ),
  personFailuresMax: limit(10, 'Failed sign-ins of one person or application from one network in a minute'),
  networkFailuresMax: limit(100, 'Failed sign-ins from one network in a minute'),
  accountFailuresMax: limit(
    50,
    'Failed sign-ins of one person from all networks in 15 minutes, unless the device is known',
  ),
  organizationKeysMax: limit(1_000, 'API keys of an organization that are not revoked'),
  revokedKeysListedMax: limit(200, 'Revoked keys that a list of keys shows, latest first'),
  organizationApplicationsMax: limit(100, 'Applications of an organization'),
  keyRequestsMax: limit(3, 'Open key requests of one member'),
  headerBytesMax: limit(16_384, 'Bytes of the request line and headers'),
  queryParametersMax: limit(32, 'Parameters in the query of a URL'),
  pathLengthMax: limit(1_024, 'Characters of the path of a URL'),
  entityTagsMax: limit(32, 'Members of `If-None-Match` that are compared; further ones are ignored'),
  headersMax: limit(100, 'Headers of a request'),
  openBodyBytesMax: limit(
    16_384,
    'Bytes of a request body without a credential: sign-in, invitations, `/oauth2/token`',
  ),
  largeBodiesMax: limit(
    64,
    'Request bodies of more than 64 KiB that are received from one organization at once, in one process; others wait',
  ),
  bodyDepthMax: limit(32, 'Levels of nesting in a JSON body'),
  bodyKeysMax: limit(1_000, 'Keys in a JSON body'),
  bodyValuesMax: limit(10_000, 'Commas and opening brackets in a JSON body, outside of texts'),
  walkMsMax: limit(
    dayMs,
    'Milliseconds from the first to the last page of a walk; older cursors are rejected',
  ),
  pageSizeMax: limit(100, 'Threads per page'),
  idempotencyKeyLengthMax: limit(255, 'Characters of an `Idempotency-Key`'),
  documentNameLengthMax: limit(600, 'Characters of the path or name of a document'),
  // An index key of PostgreSQL has at most 2,704 bytes, and the organization's id is part of it.
  documentKeyBytesMax: limit(
    2_600,
    'Bytes of the path or name of a document and of its `accountId` together',
  ),
  documentTitleLengthMax: limit(255, 'Characters of the title of a document; the rest is cut'),
  documentUrlLengthMax: limit(2048, 'Characters of the URL of a document; a longer one is dropped'),
  headingLengthMax: limit(200, 'Characters of a heading in a document; the rest is cut'),
  ratingCommentLengthMax: limit(1_000, 'Characters of the comment on a reply'),
  nameLengthMax: limit(255, 'Characters of the name of a key or an application'),
};

type Setting = keyof typeof settings;
type LimitName = Setting | keyof typeof fixed;
type SnakeCase<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? '' : '_'}${Uppercase<Letter>}${SnakeCase<Rest>}`
  : '';
export type LimitVariable = `SKEIN_${SnakeCase<Setting>}`;

export const limitEntries: readonly (readonly [string, Limit])[] = [
  ...Object.entries(settings).map(([name, setting]) => {
    const variable = `SKEIN_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}` as LimitVariable;
    return [name, { ...setting, variable }] as const;
  }),
  ...Object.entries(fixed),
];

/** Lengths are in code points. Values are read through `Context.limits`, and in the console through the session. */
export const limits = Object.fromEntries(limitEntries) as Readonly<Record<LimitName, Limit>>;

export type Limits = Readonly<Record<LimitName, number>>;

export function limitValues(choose: (limit: Limit) => number): Limits {
  return Object.fromEntries(limitEntries.map(([name, limit]) => [name, choose(limit)])) as Limits;
}

/** The limits when no variable is set. */
export const defaultLimits: Limits = limitValues((limit) => limit.default);
