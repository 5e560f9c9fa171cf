import { AccessTokens } from './access-tokens.ts';
import { apiKeyCredential, type Credential } from './credential.ts';
import type { Fetch } from './exchange.ts';
import { Threads } from './threads.ts';
import { Transport } from './transport.ts';
import { version } from './version.ts';

interface CommonOptions {
  /** The URL of the service, such as `https://skein.example`. A trailing `/api/v1` is ignored. */
  readonly baseUrl: string;
  /** Defaults to the runtime's `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** The number of retries after a transient failure. Defaults to 4. */
  readonly retries?: number | undefined;
  /** The longest pause before a retry. Defaults to 30 s. If the service asks for a longer one, the call fails. */
  readonly maxRetryDelayMs?: number | undefined;
  /**
   * The longest that a call may take, including retries. Defaults to 60 s. Does not apply to `ask` and `wait`, which have a
   * `timeoutMs` of their own that defaults to 15 minutes.
   */
  readonly timeoutMs?: number | undefined;
  /** The User-Agent header. Ignored in browsers, which send their own. */
  readonly userAgent?: string | undefined;
}

/** A personal or org-wide API key. */
export interface ApiKeyOptions extends CommonOptions {
  readonly apiKey: string;
  readonly clientId?: undefined;
  readonly clientSecret?: undefined;
  readonly authUrl?: undefined;
}

/** The credentials of an application, which are exchanged for access tokens. Never use them in a browser. */
export interface ApplicationOptions extends CommonOptions {
  readonly apiKey?: undefined;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The base URL of `/oauth2/token`, if it is not `baseUrl`. */
  readonly authUrl?: string | undefined;
}

export type SkeinOptions = ApiKeyOptions | ApplicationOptions;

/** Longer than the service's default deadline for a reply, which is 10 minutes. */
const replyTimeoutMs = 15 * 60_000;
const attemptTimeoutMs = 30_000;

/** A client with one credential. It holds no connection and does not have to be closed. */
export class Skein {
  /** Create, read, list, rename and delete threads, and ask for replies. */
  readonly threads: Threads;

  constructor(options: SkeinOptions) {
    // Not every caller uses TypeScript.
    if (!options)
      throw new TypeError(
        'Skein needs options: a baseUrl, and an apiKey or a clientId with its clientSecret.',
      );
    const settings = {
      // In a function, because a browser's fetch fails when it is called as a method of another object.
      fetch: options.fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
      retries: atLeast(0, 'retries', options.retries ?? 4),
      maxRetryDelayMs: atLeast(0, 'maxRetryDelayMs', options.maxRetryDelayMs ?? 30_000),
      timeoutMs: atLeast(1, 'timeoutMs', options.timeoutMs ?? 60_000),
      attemptTimeoutMs,
      userAgent: options.userAgent ?? `skein-client/${version}`,
    };
    const baseUrl = checkedUrl('baseUrl', options.baseUrl).replace(/\/api\/v1$/, '');
    const credential = chooseCredential(options, baseUrl, settings);
    this.threads = new Threads(new Transport({ ...settings, baseUrl, credential }), replyTimeoutMs);
  }
}

function chooseCredential(
  { apiKey, clientId, clientSecret, authUrl }: SkeinOptions,
  baseUrl: string,
  settings: Omit<ConstructorParameters<typeof AccessTokens>[0], 'tokenUrl' | 'clientId' | 'clientSecret'>,
): Credential {
  const isApplication = clientId !== undefined || clientSecret !== undefined;
  if (apiKey !== undefined && !isApplication) return apiKeyCredential(visible('apiKey', apiKey));
  if (apiKey !== undefined || !isApplication) {
    throw new TypeError('Skein needs either an apiKey or a clientId with its clientSecret.');
  }
  return new AccessTokens({
    ...settings,
    tokenUrl: `${authUrl === undefined ? baseUrl : checkedUrl('authUrl', authUrl)}/oauth2/token`,
    clientId: visible('clientId', clientId),
    clientSecret: visible('clientSecret', clientSecret),
  });
}

/** Checked here, because `fetch` reports a malformed URL like a network failure. */
function checkedUrl(name: string, value: string): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  const isPlain =
    url && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}` === '';
  if (!isPlain) throw new TypeError(`${name} must be a URL like https://skein.example.`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** The message does not contain the value, because it is a secret. */
function visible(name: string, value: unknown): string {
  if (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) return value;
  throw new TypeError(
    `${name} must be visible ASCII characters without spaces. Is it empty, or does it end with a line break?`,
  );
}

function atLeast(least: number, name: string, value: number): number {
  if (value >= least) return value;
  throw new TypeError(`${name} must be a number of at least ${least}.`);
}
