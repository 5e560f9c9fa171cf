import type { OrganizationId, UserId } from '../../domain/id.ts';
import { accountKey } from '../account-key.ts';
import type { Database } from './database.ts';

interface Owned {
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly accountId: string | null;
}

/** What a write changed about one thread: whether it is there, and whether it is published. */
interface Change {
  readonly threads: number;
  readonly published: number;
}

const everyone = '';

/** Keeps the sizes in step; to be called in the transaction of the change. */
export function prepareAdjustSizes(database: Database): (thread: Owned, change: Change) => void {
  const adjust = database.prepare<[string, string, string, number, number]>(
    `INSERT INTO listing_size (organization_id, user_id, account_key, threads, published) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET threads = threads + excluded.threads, published = published + excluded.published`,
  );
  return ({ organizationId, userId, accountId }, { threads, published }) => {
    const accounts = accountId === null ? [accountKey(null)] : [accountKey(null), accountKey(accountId)];
    for (const account of accounts) {
      adjust.run(organizationId, userId, account, threads, published);
      // Everyone's row counts what is published, and so changes with that only.
      if (published !== 0) adjust.run(organizationId, everyone, account, 0, published);
    }
  };
}

/** The size of a listing as an SQL expression: the published threads and, of the user's own, those that are not. */
export function sizeExpression(ofUser: boolean): string {
  const one = (amount: string, user: string) => `coalesce((SELECT ${amount} FROM listing_size
    WHERE organization_id = @organizationId AND user_id = ${user} AND account_key = @accountKey), 0)`;
  const published = one('published', `'${everyone}'`);
  return ofUser ? `${published} + ${one('threads - published', '@userId')}` : published;
}
