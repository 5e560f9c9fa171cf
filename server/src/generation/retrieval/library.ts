import { setImmediate as turn } from 'node:timers/promises';
import type { OrganizationId } from '../../domain/id.ts';
import type { Limits } from '../../domain/limits.ts';
import type { Library } from '../library.ts';
import { retryStore } from '../retry-store.ts';
import { type PassageStore, type SearchFindings, searchPassages } from './search.ts';
import { termsOf } from './terms.ts';

/** A library whose findings also say how much each word of the question told. */
export interface SearchLibrary extends Library {
  search(
    organizationId: OrganizationId,
    accountId: string | null,
    question: string,
    limit: number,
    signal?: AbortSignal,
  ): Promise<SearchFindings>;
}

export function createLibrary(store: PassageStore, limits: Limits): SearchLibrary {
  return {
    // What reads files is loaded with the first file: a service that only answers does without it.
    async read(name, bytes) {
      const { readDocument } = await import('../reading/read-document.ts');
      return readDocument(name, bytes, limits);
    },
    termsOf: termsOfEach,
    search(organizationId, accountId, question, limit, signal) {
      const search = () => searchPassages(store, organizationId, accountId, question, limit);
      return signal === undefined ? search() : retryStore(search, signal);
    },
  };
}

/** Measured: 7 ms, which requests may have to wait. */
const textsInOneTurn = 100;

async function termsOfEach(texts: readonly string[]): Promise<string[][]> {
  const terms: string[][] = [];
  for (const text of texts) {
    if (terms.length > 0 && terms.length % textsInOneTurn === 0) await turn();
    terms.push(termsOf(text));
  }
  return terms;
}
