/** How an account stands in a key that has a place for none: '' means no account in particular. */
export function accountKey(accountId: string | null | undefined): string {
  return accountId === null || accountId === undefined ? '' : `=${accountId}`;
}

export function accountOfKey(key: string): string | null {
  return key === '' ? null : key.slice(1);
}
