import type { Library } from '../../domain/document.ts';
import type { Limits } from '../../domain/limits.ts';
import type { DocumentReader } from '../reading/document-reader.ts';
import type { PassageStore } from './search.ts';

export function createLibrary(store: PassageStore, limits: Limits): Library {
  let reader: Promise<DocumentReader> | undefined;
  return {
    // Loads the reader with the first file: a service that only answers does not need it.
    async read(organizationId, name, source) {
      reader ??= import('../reading/document-reader.ts').then((module) => new module.DocumentReader(limits));
      return (await reader).read(organizationId, name, source);
    },
    // Model threads search for replies. Only the operator's commands search here.
    async search(organizationId, accountId, question, limit) {
      const { searchPassages } = await import('./search.ts');
      return searchPassages(store, organizationId, accountId, question, limit);
    },
  };
}
