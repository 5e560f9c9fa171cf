import { ObjectCache } from '../cache/object-cache.ts';
import { atEndOfTurn, type Database } from './database.ts';

/**
 * Caches objects, each under the id of its row, while the rows behind them do not change. Triggers remove objects that this
 * connection changes, so no write can miss it. A commit of another connection (a new `data_version`) removes everything.
 */
export class WatchedCache extends ObjectCache {
  readonly #readDataVersion;
  /** Raised by each change of an organization's threads that its listings show. */
  readonly #listingChanges = new Map<string, number>();
  #dataVersion: unknown;
  #isConfirmed = false;

  constructor(database: Database, bytesMax: number) {
    super(bytesMax);
    this.#readDataVersion = database.prepare('PRAGMA data_version').pluck();
    this.#dataVersion = this.#readDataVersion.get();
    this.#watch(database);
  }

  get<T extends object>(name: string): T | undefined {
    if (!this.#isConfirmed) this.#confirm();
    return this.peek(name);
  }

  /** Changes whenever a listing of the organization may have changed. Confirmed like an object. */
  listingChange(organizationId: string): number {
    if (!this.#isConfirmed) this.#confirm();
    return this.#listingChanges.get(organizationId) ?? 0;
  }

  /**
   * Checks once for all reads that follow in this turn of the event loop. They belong to requests that arrived before,
   * because no socket is read while the promises of a turn are settled. Checking takes 2.5 µs.
   */
  confirmForTurn(): void {
    this.#confirm();
    this.#isConfirmed = true;
    atEndOfTurn(() => {
      this.#isConfirmed = false;
    });
  }

  #confirm(): void {
    const version = this.#readDataVersion.get();
    if (version === this.#dataVersion) return;
    this.#dataVersion = version;
    this.clear();
  }

  /** The triggers belong to this connection and are not part of the file. They take 2 µs per changed row. */
  #watch(database: Database): void {
    database.function('forget_object', (id) => this.remove(id as string));
    database.function('forget_listings', (id) => {
      this.#listingChanges.set(id as string, (this.#listingChanges.get(id as string) ?? 0) + 1);
    });
    database.function('forget_everything', () => this.clear());
    const listed =
      'UPDATE OF user_id, account_id, title, updated_at, activity_at, published, deleted_at ON main.thread';
    const triggers = [
      ['INSERT ON main.thread', 'forget_listings(new.organization_id)'],
      [listed, 'forget_listings(new.organization_id)'],
      ['UPDATE ON main.thread', 'forget_object(old.id)'],
      ['DELETE ON main.thread', 'forget_object(old.id), forget_listings(old.organization_id)'],
      // Every other change of a message raises the version of its thread.
      ['DELETE ON main.message', 'forget_object(old.thread_id)'],
      ['UPDATE ON main.api_key', 'forget_object(old.hash)'],
      ['DELETE ON main.api_key', 'forget_object(old.hash)'],
      ['UPDATE ON main.application', 'forget_object(old.id)'],
      ['DELETE ON main.application', 'forget_object(old.id)'],
      ['UPDATE ON main.organization', 'forget_everything()'],
      ['DELETE ON main.organization', 'forget_everything()'],
    ];
    for (const [number, [event, forget]] of triggers.entries())
      database.exec(`CREATE TEMP TRIGGER watch_${number} AFTER ${event} BEGIN SELECT ${forget}; END`);
  }
}
