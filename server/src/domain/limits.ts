import { dayMs } from './time.ts';

/** One limit of the service: a size, a count, a rate, a budget or a time. */
interface Limit {
  readonly default: number;
  /** What a fixed limit limits. The table in docs/operating.md shows this sentence. */
  readonly sentence?: string;
  /** The environment variable that sets it. A limit without a variable is fixed. */
  readonly variable?: LimitVariable;
  /** The smallest and largest value of the variable. `min` defaults to 1. */
  readonly min?: number;
  readonly max?: number;
}

function setting(value: number, range: Pick<Limit, 'min' | 'max'> = {}): Limit {
  return { default: value, ...range };
}

function limit(value: number, sentence: string): Limit {
  return { default: value, sentence };
}

/** Memory for objects that a store keeps. Here, so that commands without a store do not load its cache. */
export const cacheBytesDefault = 64 * 1024 * 1024;

/** Timers hold at most this many milliseconds. */
export const timerMsMax = 2 ** 31 - 1;
const timerRange = { min: 100, max: timerMsMax };

/**
 * What the operator can set; docs/operating.md explains each. The name of a variable follows from that of its limit:
 * `SKEIN_PAGINATION_WINDOW`.
 */
const settings = {
  paginationWindow: setting(10_000),
  dailyQuota: setting(10_000, { min: 0 }),
  promptLengthMax: setting(100_000),
  titleLengthMax: setting(500),
  // A thread is created with a prompt and its reply.
  threadMessagesMax: setting(1_000, { min: 2 }),
  threadBytesMax: setting(10_485_760),
  // An index key of PostgreSQL has at most 2,704 bytes, and a character up to four.
  linkLengthMax: setting(255, { max: 600 }),
  bodyBytesMax: setting(1_048_576, { max: 2 ** 30 }),
  requestTimeoutMs: setting(30_000, timerRange),
  replyDeadlineMs: setting(600_000, timerRange),
  replyConcurrency: setting(256, { max: 100_000 }),
  replyAttempts: setting(3, { max: 100 }),
  replyLengthMax: setting(200_000),
  modelSilenceMs: setting(60_000, timerRange),
  sessionIdleMs: setting(604_800_000, { min: 100 }),
  sessionLifeMs: setting(2_592_000_000, { min: 100 }),
  consolePromptsPerMinute: setting(60),
  consolePromptsPerDay: setting(2_000),
  consoleOrganizationPromptsPerMinute: setting(600),
  consoleOrganizationPromptsPerDay: setting(20_000),
  consoleChangesPerMinute: setting(1_200),
  streamsPerPersonMax: setting(20, { max: 10_000 }),
  streamWriteTimeoutMs: setting(30_000, timerRange),
  documentBytesMax: setting(52_428_800, { max: 2 ** 30 }),
  documentLengthMax: setting(5_000_000, { max: 100_000_000 }),
  documentPassagesMax: setting(5_000, { max: 100_000 }),
  documentReaders: setting(2, { max: 64 }),
  documentReadMs: setting(30_000, timerRange),
  documentReadMb: setting(256, { min: 32, max: 65_536 }),
  requestLogMax: setting(100_000, { min: 0 }),
  uploadsMax: setting(2, { max: 1000 }),
  organizationDocumentsMax: setting(10_000),
  organizationMembersMax: setting(2_000),
  organizationBytesMax: setting(1_073_741_824),
  mailsPerDay: setting(200),
};

const fixed = {
  mailsPerPerson: limit(
    5,
    'Invitations by email to one person per organization and day, and as many password links',
  ),
  personFailuresMax: limit(10, 'Failed sign-ins of one person or application from one place in a minute'),
  placeFailuresMax: limit(100, 'Failed sign-ins from one place in a minute'),
  accountFailuresMax: limit(
    50,
    'Failed sign-ins of one person from all places in 15 minutes, unless the device is known',
  ),
  organizationKeysMax: limit(1_000, 'API keys of an organization that are not revoked'),
  revokedKeysListedMax: limit(200, 'Revoked keys that a list of keys shows, latest first'),
  organizationApplicationsMax: limit(100, 'Applications of an organization'),
  keyRequestsMax: limit(3, 'Open key requests of one member'),
  headerBytesMax: limit(16_384, 'Bytes of the request line and headers'),
  headersMax: limit(1_000, 'Headers of a request'),
  openBodyBytesMax: limit(
    16_384,
    'Bytes of a request body without a credential: sign-in, invitations, `/oauth2/token`',
  ),
  bodyDepthMax: limit(32, 'Levels of nesting in a JSON body'),
  bodyKeysMax: limit(1_000, 'Keys in a JSON body'),
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

function variableOf(name: string): LimitVariable {
  return `SKEIN_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}` as LimitVariable;
}

export const limitEntries: readonly (readonly [string, Limit])[] = [
  ...Object.entries(settings).map(
    ([name, setting]) => [name, { ...setting, variable: variableOf(name) }] as const,
  ),
  ...Object.entries(fixed),
];

/** Lengths are in code points. Values are read through `Context.limits`, and in the console through the session. */
export const limits = Object.fromEntries(limitEntries) as Readonly<Record<LimitName, Limit>>;

export type Limits = Readonly<Record<LimitName, number>>;

export function limitValues(choose: (limit: Limit) => number): Limits {
  return Object.fromEntries(limitEntries.map(([name, limit]) => [name, choose(limit)])) as Limits;
}

/** Formats a size like `50 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 1024 ** step).toFixed(1))} ${units[step]}`;
}

/** The limits when no variable is set. */
export const defaultLimits: Limits = limitValues((limit) => limit.default);
