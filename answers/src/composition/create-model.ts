import type { LanguageModelOptions } from '../models/language.ts';
import type { PassageStore } from '../port/documents.ts';
import type { Drafter, Model, PassageSearch } from '../port/model.ts';
import type { PassageSource } from '../threads/model-thread.ts';
import type { ModelThreads } from '../threads/model-threads.ts';
import type { answeredQuestions } from './example-questions.ts';

// Apart from index.ts, because a process that writes one reply loads little else: its start takes a third of the time.

/** Which model writes replies. `name` is shown as the message's `model`. */
export type ModelChoice =
  | { readonly kind: 'scripted' | 'extractive'; readonly name: string }
  | ({ readonly kind: 'language' } & Pick<
      LanguageModelOptions,
      'name' | 'provider' | 'model' | 'baseUrl' | 'apiKey'
    >);

export interface ModelLimits {
  /** How long a language model may send nothing before the attempt fails. */
  readonly modelSilenceMs: number;
  readonly replyLengthMax: number;
}

/** Returns questions that the document answers. Each was asked to make sure. */
export type SuggestQuestions = ReturnType<typeof answeredQuestions>;

/** What a model is made from. It can be sent to another process. */
export interface ModelSettings {
  readonly model: ModelChoice;
  readonly limits: ModelLimits;
  readonly threads: number;
  readonly passages: PassageSource | undefined;
}

/** `suggestQuestions` is undefined if no model quotes documents. */
export async function createModel(
  settings: ModelSettings,
  store: PassageStore,
  traceHeaders: () => Record<string, string>,
): Promise<Model & { readonly suggestQuestions?: SuggestQuestions }> {
  if (settings.model.kind === 'scripted') return (await import('../models/scripted.ts')).scriptedModel;
  const { ModelThreads } = await import('../threads/model-threads.ts');
  const questions = await import('./example-questions.ts');
  const threads = new ModelThreads({ ...settings, store });
  const suggestQuestions = questions.answeredQuestions(threads);
  const drafter = await createDrafter(settings, threads, traceHeaders);
  const model = drafter === undefined ? threads : await corroboratedIn(threads, drafter);
  return {
    name: model.name,
    reply: (request) => model.reply(request),
    suggestQuestions,
    close: () => threads.close(),
  };
}

async function corroboratedIn(threads: ModelThreads, drafter: Drafter): Promise<Model> {
  const { corroborated } = await import('./corroborated.ts');
  return corroborated(drafter, (...asked) => threads.corroborate(...asked));
}

/** Undefined if an embedded model is configured. */
export async function createDrafter(
  { model, limits }: Pick<ModelSettings, 'model' | 'limits'>,
  library: PassageSearch,
  traceHeaders?: () => Record<string, string>,
): Promise<Drafter | undefined> {
  if (model.kind !== 'language') return undefined;
  const { languageModel } = await import('../models/language.ts');
  const { modelSilenceMs: silenceMs, replyLengthMax } = limits;
  return languageModel({ ...model, library, silenceMs, replyLengthMax, traceHeaders });
}
