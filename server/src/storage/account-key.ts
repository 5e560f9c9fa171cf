/** How an account stands in a key that has a place for none: '' means no account in particular. */
export function accountKey(accountId: string | null | undefined): string {
  return accountId === null || accountId === undefined ? '' : `=${accountId}`;
}

export function accountOfKey(key: string): string | null {
  return key === '' ? null : key.slice(1);
}

/** So many accounts without a thread are looked at, beside those that are asked for, when accounts are listed. */
export const emptyAccountsMax = 1_000;
