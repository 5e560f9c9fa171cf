import { describe } from 'node:test';
import { testDatabase } from '../postgres/databases.ts';

/** A kind of store. */
export interface Engine {
  readonly engine: 'SQLite' | 'PostgreSQL';
  /** The environment of a service on a fresh, empty store. */
  freshStore(): Promise<Record<string, string>>;
  /** The environment of the service that the test files of this process share, see `sharedService`. */
  sharedStore(): Promise<Record<string, string>>;
}

let sharedDatabase: Promise<string> | undefined;

const engines: readonly Engine[] = [
  { engine: 'SQLite', freshStore: async () => ({}), sharedStore: async () => ({}) },
  {
    engine: 'PostgreSQL',
    freshStore: async () => ({ SKEIN_DATABASE_URL: await testDatabase() }),
    sharedStore: async () => {
      sharedDatabase ??= testDatabase();
      return { SKEIN_DATABASE_URL: await sharedDatabase };
    },
  },
];

/** Many cases are decided before the store is used, so on the slower store a part of a long series is enough. */
export function partFor<T>({ engine }: Engine, series: readonly T[], one = 5, from = 0): readonly T[] {
  return engine === 'SQLite' ? series : series.filter((_, place) => place % one === from % one);
}

/** Runs the same tests on each store, because callers must not see a difference. */
export function describeOnEachEngine(title: string, suite: (engine: Engine) => void): void {
  for (const engine of engines) describe(`${title} (${engine.engine})`, () => suite(engine));
}
