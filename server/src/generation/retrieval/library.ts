import type { Library } from '../../domain/document.ts';
import type { Limits } from '../../domain/limits.ts';
import { loadOnce } from '../../domain/load-once.ts';
import type { PassageStore } from './search.ts';

export function createLibrary(store: PassageStore, limits: Limits): Library {
  // A service that only answers does not need the reader.
  const reader = loadOnce(async () => {
    const { DocumentReader } = await import('../reading/document-reader.ts');
    return new DocumentReader(limits);
  });
  return {
    read: async (organizationId, name, path) => (await reader()).read(organizationId, name, path),
    // Model threads search for replies. Only the operator's commands search here.
    async search(organizationId, accountId, question, limit) {
      const { searchPassages } = await import('./search.ts');
      return searchPassages(store, organizationId, accountId, question, limit);
    },
  };
}
