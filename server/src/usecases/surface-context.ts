import type { Store } from '../storage/port/store.ts';
import type { Context } from './context.ts';

/** What the process needs to watch its store. None of it reads an organization's data. */
export type StoreHealth = Pick<Store, 'ping' | 'connections' | 'clockAheadMs' | 'replyBacklog' | 'diagnose'>;

/** Can be passed to any use case, because `never` is assignable to `Store`, but calling `store` does not compile. */
export interface SurfaceContext extends Omit<Context, 'store'> {
  readonly store: never;
  readonly storeHealth: StoreHealth;
  close(): Promise<void>;
}
