import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from '../../../src/storage/port/store.ts';
import { describeStore, type StorePart } from '../../contract/describe-store.ts';
import { openMemoryStore, openTransactions, Tables, type Transactions } from './open.ts';

/** What the simulation uses. The rest of the port is not in the memory store. */
const parts: StorePart[] = [
  'organizations',
  'apiKeys',
  'applications',
  'signingKeys',
  'quotas',
  'admissions',
  'threads',
  'writeGrants',
  'walks',
  'replies',
  'replyClocks',
  'abandonedReplies',
  'followUps',
  'versions',
  'threadVersions',
  'usages',
];

let queue: Promise<unknown> = Promise.resolve();
const link = {
  /** One call in each turn of the event loop, so that calls of several nodes alternate. */
  call<T>(_method: string, _args: unknown, run: () => T): Promise<T> {
    const answer = queue.then(() => turn()).then(run);
    queue = answer.catch(() => {});
    return answer;
  },
  sendNotice: async () => {},
  onNotice() {},
};

describeStore(
  'memory',
  () => {
    let transactions: Transactions | undefined;
    return (clock) => {
      transactions ??= openTransactions(new Tables(clock));
      return openMemoryStore(transactions, clock, link) as Store;
    };
  },
  parts,
);
