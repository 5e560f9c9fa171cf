/** An account as part of a key that must not be null: '' means no account. */
export function accountKey(accountId: string | null | undefined): string {
  return accountId === null || accountId === undefined ? '' : `=${accountId}`;
}

export function accountOfKey(key: string): string | null {
  return key === '' ? null : key.slice(1);
}

/** Listing accounts skips at most this many accounts without a thread. */
export const emptyAccountsMax = 1_000;
