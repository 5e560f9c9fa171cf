import type { OrganizationId } from '../../domain/id.ts';
import type { Library } from '../../domain/library.ts';
import type { Limits } from '../../domain/limits.ts';
import type { DocumentReader } from '../reading/document-reader.ts';
import { retryStore } from '../retry-store.ts';
import { type PassageStore, type SearchFindings, searchPassages } from './search.ts';

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
  let reader: Promise<DocumentReader> | undefined;
  return {
    // What reads files is loaded with the first file: a service that only answers does without it.
    async read(organizationId, name, source) {
      reader ??= import('../reading/document-reader.ts').then((module) => new module.DocumentReader(limits));
      return (await reader).read(organizationId, name, source);
    },
    search(organizationId, accountId, question, limit, signal) {
      const search = () => searchPassages(store, organizationId, accountId, question, limit);
      return signal === undefined ? search() : retryStore(search, signal);
    },
  };
}
