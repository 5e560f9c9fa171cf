import { describe } from 'node:test';
import { testDatabase } from './postgres/databases.ts';

/** What the service can keep everything in. */
export interface Engine {
  readonly engine: 'SQLite' | 'PostgreSQL';
  /** The environment of a service on a fresh, empty store. */
  freshStore(): Promise<Record<string, string>>;
}

const engines: readonly Engine[] = [
  { engine: 'SQLite', freshStore: async () => ({}) },
  { engine: 'PostgreSQL', freshStore: async () => ({ SKEIN_DATABASE_URL: await testDatabase() }) },
];

/** Much is decided before the store is asked: on the slower of the two a part of a long series is enough. */
export function partFor<T>({ engine }: Engine, series: readonly T[], one = 5, from = 0): readonly T[] {
  return engine === 'SQLite' ? series : series.filter((_, place) => place % one === from % one);
}

/** The same tests on each: callers cannot tell them apart. */
export function describeOnEachEngine(title: string, suite: (engine: Engine) => void): void {
  for (const engine of engines) describe(`${title} (${engine.engine})`, () => suite(engine));
}
