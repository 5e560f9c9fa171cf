/** What a request shows to be let in. */
export interface Shown {
  readonly bearer: string;
  /** Whether it was in store, so that it may be out of date. */
  readonly cached: boolean;
}

/** What a client holds. */
export interface Credential {
  present(signal: AbortSignal): Promise<Shown>;
  /** Another one for a cached one that was refused. */
  renew(refused: string, signal: AbortSignal): Promise<Shown>;
}

export function apiKeyCredential(bearer: string): Credential {
  const shown = Promise.resolve({ bearer, cached: false });
  return { present: () => shown, renew: () => shown };
}
