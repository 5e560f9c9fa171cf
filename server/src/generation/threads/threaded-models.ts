import type { Findings } from '../../domain/library.ts';
import type { Corroborate } from '../corroboration/corroborated.ts';
import type { Model, PassageSearch, ReplyEvent } from '../model.ts';
import type { ModelThreads } from './model-threads.ts';

/** The embedded model, off the event loop. */
export function threadedExtractive(threads: ModelThreads): Model {
  return {
    name: 'extractive',
    reply: ({ signal, ...request }) =>
      threads.run<ReplyEvent>(request.organizationId, { kind: 'reply', request }, signal),
  };
}

export function threadedCorroborate(threads: ModelThreads): Corroborate {
  return (draft, passages, signal, organizationId) =>
    threads.run<ReplyEvent>(organizationId, { kind: 'corroborate', draft, passages }, signal);
}

const neverAborted = new AbortController().signal;

/** Ranking is done in the thread; the store is read on the event loop. */
export function threadedSearch(threads: ModelThreads): PassageSearch {
  return {
    async search(organizationId, accountId, question, limit, signal = neverAborted) {
      const task = { kind: 'search', request: { organizationId, accountId }, question, limit } as const;
      const events = threads.run<{ type: 'findings'; findings: Findings }>(organizationId, task, signal);
      let found: Findings = { searched: 0, passages: [] };
      for await (const { findings } of events) found = findings;
      return found;
    },
  };
}
