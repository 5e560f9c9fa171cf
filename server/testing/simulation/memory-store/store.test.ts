import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from '../../../src/storage/store.ts';
import { describeStore, type StorePart } from '../../contract/describe-store.ts';
import { Random } from '../random.ts';
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
  'abandonedReplies',
  'followUps',
  'threadVersions',
  'usages',
];

const random = new Random(1);
const link = {
  /** After a few turns of the event loop, so that calls of several nodes overtake each other. */
  async call<T>(_method: string, _args: unknown, run: () => T): Promise<T> {
    for (let turns = random.integer(5); turns >= 0; turns -= 1) await turn();
    return run();
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
