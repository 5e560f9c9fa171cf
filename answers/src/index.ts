/**
 * The whole surface of this workspace: reads documents, finds passages, drafts and corroborates. What is heavy is loaded with
 * its first use, so that a command that needs none of it starts without it.
 */

import type { ModelSettings } from './composition/create-model.ts';
import type { isolatedModel } from './isolation/isolated-model.ts';
import type { tryModel as tryDrafter } from './models/language/trial.ts';
import type { Model } from './port/model.ts';
import type { searchPassages as search } from './retrieval/search.ts';
import type { ModelThreads, ThreadSettings } from './threads/model-threads.ts';

export {
  createDrafter,
  createModel,
  type ModelChoice,
  type ModelLimits,
  type ModelSettings,
  type SuggestQuestions,
} from './composition/create-model.ts';
export { describeSupport } from './corroboration/verdict.ts';
export type { ModelTrial } from './models/language/trial.ts';
export { scriptedModel } from './models/scripted.ts';
export type * from './port/documents.ts';
export {
  type CheckedStatement,
  type ConversationTurn,
  type DraftEvent,
  type Drafter,
  type Model,
  ModelError,
  type PassageSearch,
  type ReplyEvent,
  type ReplyRequest,
  type Source,
  type Verdict,
} from './port/model.ts';
export { documentReader } from './reading/document-reader.ts';
export { documentFormats } from './reading/formats.ts';
export type { ReadingLimits } from './reading/reading-limits.ts';
export { UnreadableDocument } from './reading/unreadable-document.ts';
export { extractPassageTerms, splitWords, toTerm } from './retrieval/terms.ts';
export type { PassageSource } from './threads/model-thread.ts';
export type { ModelThreads } from './threads/model-threads.ts';

/** Finds the passages that answer a question best. Runs on the caller's thread. */
export async function searchPassages(...asked: Parameters<typeof search>): ReturnType<typeof search> {
  return (await import('./retrieval/search.ts')).searchPassages(...asked);
}

/** Threads that search, draft with the embedded model and corroborate off the event loop. */
export async function openModelThreads(settings: ThreadSettings): Promise<ModelThreads> {
  const threads = await import('./threads/model-threads.ts');
  return new threads.ModelThreads(settings);
}

/** A model that writes each reply in a process of its own, which the reply may end in any way. */
export async function openIsolatedModel(
  options: Omit<Parameters<typeof isolatedModel<ModelSettings>>[0], 'program'>,
): Promise<Model> {
  const isolation = await import('./isolation/isolated-model.ts');
  const program = new URL('./composition/reply-process.ts', import.meta.url);
  return isolation.isolatedModel({ ...options, program });
}

/** Asks a drafter one question, without documents and without retries. */
export async function tryModel(...asked: Parameters<typeof tryDrafter>): ReturnType<typeof tryDrafter> {
  return (await import('./models/language/trial.ts')).tryModel(...asked);
}
