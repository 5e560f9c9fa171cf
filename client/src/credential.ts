/** The token of the `Authorization` header. */
export interface BearerToken {
  readonly value: string;
  /** A cached token may have expired or been revoked. */
  readonly isCached: boolean;
}

export interface Credential {
  token(signal: AbortSignal): Promise<BearerToken>;
  /** Returns a new token in place of a cached one that the service rejected. */
  renew(rejected: string, signal: AbortSignal): Promise<BearerToken>;
}

export function apiKeyCredential(apiKey: string): Credential {
  const token = Promise.resolve({ value: apiKey, isCached: false });
  return { token: () => token, renew: () => token };
}
