import type Sqlite from 'better-sqlite3';

/** The rows of `listing_size`: each user's threads and all published threads, in total and by account. */
export class ListingSizes {
  readonly #rows = new Map<string, { threads: number; published: number }>();

  count(user: string, account: string | null, published: boolean): void {
    for (const key of account === null ? [''] : ['', `=${account}`]) {
      this.#add(`${user}|${key}`, 1, Number(published));
      if (published) this.#add(`|${key}`, 0, 1);
    }
  }

  published(account: string | null): number {
    return this.#of('', account).published;
  }

  visibleTo(user: string, account: string | null): number {
    const own = this.#of(user, account);
    return own.threads + this.published(account) - own.published;
  }

  /** Adds to the existing rows. */
  write(database: Sqlite.Database): void {
    const organization = database.prepare('SELECT organization_id FROM thread LIMIT 1').pluck().get();
    const adjust = database.prepare(
      `INSERT INTO listing_size (organization_id, user_id, account_key, threads, published) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET threads = threads + excluded.threads, published = published + excluded.published`,
    );
    for (const [name, { threads, published }] of this.#rows) {
      adjust.run(organization, ...(name.split('|') as [string, string]), threads, published);
    }
  }

  #of(user: string, account: string | null) {
    return this.#rows.get(`${user}|${account === null ? '' : `=${account}`}`) ?? { threads: 0, published: 0 };
  }

  #add(name: string, threads: number, published: number): void {
    const row = this.#rows.get(name) ?? { threads: 0, published: 0 };
    row.threads += threads;
    row.published += published;
    this.#rows.set(name, row);
  }
}
