import type { Library } from '../../domain/document.ts';
import type { Limits } from '../../domain/limits.ts';
import { DocumentReader } from '../reading/document-reader.ts';
import type { PassageStore } from './search.ts';

export function createLibrary(store: PassageStore, limits: Limits): Library {
  const reader = new DocumentReader(limits);
  return {
    read: (organizationId, name, path) => reader.read(organizationId, name, path),
    // Model threads search for replies. Only the operator's commands search here.
    async search(organizationId, accountId, question, limit) {
      const { searchPassages } = await import('./search.ts');
      return searchPassages(store, organizationId, accountId, question, limit);
    },
  };
}
