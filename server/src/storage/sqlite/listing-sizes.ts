import type { OrganizationId, UserId } from '../../domain/id.ts';
import { accountKey, accountOfKey, emptyAccountsMax } from '../account-key.ts';
import type { Threads } from '../store.ts';
import type { Database } from './database.ts';

interface Owned {
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly accountId: string | null;
}

/** By how much a write changes the number of threads and of published threads. */
interface Change {
  readonly threads: number;
  readonly published: number;
}

const everyone = '';

/** Updates the sizes of listings. To be called in the transaction of the change. */
export function prepareAdjustSizes(database: Database): (thread: Owned, change: Change) => void {
  const adjust = database.prepare<[string, string, string, number, number]>(
    `INSERT INTO listing_size (organization_id, user_id, account_key, threads, published) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET threads = threads + excluded.threads, published = published + excluded.published`,
  );
  return ({ organizationId, userId, accountId }, { threads, published }) => {
    const accounts = accountId === null ? [accountKey(null)] : [accountKey(null), accountKey(accountId)];
    for (const account of accounts) {
      adjust.run(organizationId, userId, account, threads, published);
      // The row of all users counts published threads only.
      if (published !== 0) adjust.run(organizationId, everyone, account, 0, published);
    }
  };
}

/** Which threads a listing shows: published ones, the user's own, or both. */
export type Counted = 'published' | 'mine' | 'own';

/** The size of a listing as an SQL expression. */
export function sizeExpression(counted: Counted): string {
  const one = (amount: string, user: string) => `coalesce((SELECT ${amount} FROM listing_size
    WHERE organization_id = @organizationId AND user_id = ${user} AND account_key = @accountKey), 0)`;
  const published = one('published', `'${everyone}'`);
  if (counted === 'mine') return one('threads', '@userId');
  return counted === 'own' ? `${published} + ${one('threads - published', '@userId')}` : published;
}

export function prepareListAccounts(database: Database): Threads['listAccounts'] {
  const looked = (user: string) => `SELECT * FROM (SELECT * FROM listing_size
    WHERE organization_id = @organizationId AND user_id = ${user} AND account_key >= @key
    ORDER BY account_key LIMIT @limit + ${emptyAccountsMax})`;
  const list = database
    .prepare<[{ organizationId: string; userId: string; key: string; limit: number }], string>(
      `SELECT account_key FROM (${looked('@userId')} WHERE threads > 0
         UNION ALL ${looked(`'${everyone}'`)} WHERE published > 0)
       WHERE substr(account_key, 1, length(@key)) = @key
       GROUP BY account_key ORDER BY account_key LIMIT @limit`,
    )
    .pluck();
  return async (organizationId, userId, prefix, limit) =>
    list.all({ organizationId, userId, key: accountKey(prefix), limit }).map((key) => accountOfKey(key)!);
}
