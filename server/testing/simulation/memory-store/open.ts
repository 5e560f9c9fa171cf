import type { AnyAuthority } from '../../../src/domain/authority.ts';
import { clockJump } from '../../../src/storage/port/clock-jumps.ts';
import type { ReplyNotice, Store } from '../../../src/storage/port/store.ts';
import { memoryCredentials } from './credentials.ts';
import { memoryRecords } from './records.ts';
import { memoryReplies } from './replies.ts';
import type { StoreClocks } from './store-clock.ts';
import { Tables } from './tables.ts';
import { memoryThreads } from './threads.ts';
import { memoryWalks } from './walks.ts';

/** The methods that run in the database, each as one transaction. */
export type Transactions = ReturnType<typeof openTransactions>;

export function openTransactions(tables: Tables) {
  const transactions = {
    ...memoryCredentials(tables),
    ...memoryThreads(tables),
    ...memoryWalks(tables),
    ...memoryReplies(tables),
    ...memoryRecords(tables),
    secret(name: string, candidate: Uint8Array) {
      const kept = tables.secrets.get(name) ?? candidate;
      tables.secrets.set(name, kept);
      return kept;
    },
    nextToken: () => tables.nextToken(),
    ping() {},
    clockAheadMs: () => tables.clock.aheadMs(),
  };
  const authorized = Object.entries(transactions).map(([method, run]) => [
    method,
    (...args: never[]) => {
      const authority = getAuthority(args);
      const mayRun = authority === undefined || tables.isAuthorized(args[0]!, authority);
      return mayRun ? (run as (...args: never[]) => unknown)(...args) : 'unauthorized';
    },
  ]);
  return Object.fromEntries(authorized) as typeof transactions;
}

/** The authority of a write: its last argument, or that of the note. Undefined for other methods. */
export function getAuthority(args: readonly unknown[]): AnyAuthority | undefined {
  const last = args.at(-1);
  if (typeof last !== 'object' || last === null) return undefined;
  // A reader may have an authority, too.
  if ('authority' in last && 'action' in last) return last.authority as AnyAuthority;
  return 'kind' in last ? (last as AnyAuthority) : undefined;
}

/** The connection of one node to the database: it decides when, and whether, a transaction runs and returns. */
export interface Link {
  call<T>(method: keyof Transactions, args: readonly unknown[], run: () => T): Promise<T>;
  sendNotice(notice: ReplyNotice): Promise<void>;
  onNotice(listener: (notice: ReplyNotice) => void): void;
}

/** The methods of the store that the simulation and the operations of the public API use. */
type MemoryStore = Pick<Store, Exclude<keyof Transactions, 'readTime' | 'nextToken'>> &
  Pick<Store, 'releaseOrphanedReplies' | 'sendNotice' | 'onNotice' | 'connections' | 'diagnose' | 'close'>;

/** One node of the store, as an adapter: like PostgreSQL's, it keeps only a clock and claims without a response. */
export function openMemoryStore(
  transactions: Transactions,
  { steady }: StoreClocks,
  link: Link,
): MemoryStore {
  const remote = Object.fromEntries(
    Object.entries(transactions).map(([method, run]) => [
      method,
      (...args: never[]) =>
        link.call(method as keyof Transactions, args, () => (run as (...args: never[]) => unknown)(...args)),
    ]),
  ) as unknown as Pick<Store, keyof Transactions & keyof Store>;
  let last = { time: transactions.readTime(), beforeMs: steady(), afterMs: steady() };
  /** The tokens of claims that may have happened, and when each can be forgotten. */
  const unconfirmed = new Map<number, number>();

  return {
    ...remote,

    async claimReplies(shares, leaseMs, queue = 'usual') {
      const token = transactions.nextToken();
      const claim = () => transactions.claimReplies(shares, leaseMs, token, queue);
      return link.call('claimReplies', [shares, leaseMs, token, queue], claim).catch((error) => {
        unconfirmed.set(token, steady() + leaseMs);
        throw error;
      });
    },

    async sweepReplies({ leases }) {
      const beforeMs = steady();
      const time = await link.call('readTime', [], () => transactions.readTime());
      const reading = { time, beforeMs, afterMs: steady() };
      const sweep = {
        at: time,
        jump: clockJump(last, reading),
        unconfirmed: [...unconfirmed.keys()],
        leases,
      };
      const swept = await link.call('sweepReplies', [sweep], () => transactions.sweepReplies(sweep));
      last = reading;
      for (const [token, endsMs] of unconfirmed) if (steady() > endsMs) unconfirmed.delete(token);
      return swept;
    },

    releaseOrphanedReplies: async () => [],
    sendNotice: (notice) => link.sendNotice(notice),
    onNotice: (listener) => link.onNotice(listener),
    connections: () => undefined,
    diagnose: async () => [],
    close: async () => {},
  };
}

export { Tables };
