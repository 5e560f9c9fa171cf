import type { OrganizationId } from '../domain/id.ts';
import type { Findings } from '../domain/library.ts';

/** What a model knows of the library: it can search, and it retries an unavailable store until the signal aborts. */
export interface PassageSearch {
  search(
    organizationId: OrganizationId,
    accountId: string | null,
    question: string,
    limit: number,
    signal?: AbortSignal,
  ): Promise<Findings>;
}
