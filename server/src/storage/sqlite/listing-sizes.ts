import type { OrganizationId, UserId } from '../../domain/id.ts';
import type { Listing } from '../store.ts';
import type { Database } from './database.ts';

/** What a write changed about one thread: whether it is there, and whether it is published. */
interface Change {
  readonly threads: number;
  readonly published: number;
}

interface Owned {
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly accountId: string | null;
}

export interface ListingSizes {
  /** To be called in the transaction of the change. */
  adjust(thread: Owned, change: Change): void;
  of(organizationId: OrganizationId, listing: Listing): number;
}

const everyone = '';
const anyAccount = '';

export function sqliteListingSizes(database: Database): ListingSizes {
  const adjust = database.prepare<[string, string, string, number, number]>(
    `INSERT INTO listing_size (organization_id, user_id, account_key, threads, published) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET threads = threads + excluded.threads, published = published + excluded.published`,
  );
  const read = database.prepare<[string, string, string], Change>(
    `SELECT threads, published FROM listing_size
     WHERE organization_id = ? AND user_id = ? AND account_key = ?`,
  );
  const none: Change = { threads: 0, published: 0 };

  return {
    adjust({ organizationId, userId, accountId }, { threads, published }) {
      const accountKeys = accountId === null ? [anyAccount] : [anyAccount, accountKey(accountId)];
      for (const account of accountKeys) {
        adjust.run(organizationId, userId, account, threads, published);
        // Everyone's row counts what is published, and so changes with that only.
        if (published !== 0) adjust.run(organizationId, everyone, account, 0, published);
      }
    },

    of(organizationId, { userId, accountId }) {
      const account = accountId === undefined ? anyAccount : accountKey(accountId);
      const all = read.get(organizationId, everyone, account) ?? none;
      if (userId === null) return all.published;
      const own = read.get(organizationId, userId, account) ?? none;
      return own.threads + all.published - own.published;
    },
  };
}

function accountKey(accountId: string): string {
  return `=${accountId}`;
}
