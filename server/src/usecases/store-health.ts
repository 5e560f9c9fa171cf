import type { Store } from '../storage/port/store.ts';

export type { Diagnosis } from '../storage/port/store.ts';

/** What the process needs to watch its store. None of it reads an organization's data. */
export type StoreHealth = Pick<Store, 'ping' | 'connections' | 'clockAheadMs' | 'replyBacklog' | 'diagnose'>;
