import type { Config } from '../../server/src/config/config.ts';
import type { SuggestQuestions } from '../../server/src/usecases/documents/example-questions.ts';
import type { Drafter, Model, PassageSearch } from './model.ts';
import type { PassageStore } from './retrieval/search.ts';
import type { PassageSource } from './threads/model-thread.ts';
import type { ModelThreads } from './threads/model-threads.ts';

// Apart from compose.ts, because a process that writes one reply loads little else: its start takes a third of the time.

/** What a model is made from. It can be sent to another process. */
export interface ModelSettings extends Pick<Config, 'model' | 'limits'> {
  readonly threads: number;
  readonly passages: PassageSource | undefined;
}

/** `suggestQuestions` is undefined if no model quotes documents. */
export async function createModel(
  settings: ModelSettings,
  store: PassageStore,
  traceHeaders: () => Record<string, string>,
): Promise<Model & { readonly suggestQuestions?: SuggestQuestions }> {
  if (settings.model.kind === 'scripted') return (await import('./models/scripted.ts')).scriptedModel;
  const { ModelThreads } = await import('./threads/model-threads.ts');
  const { answeredQuestions } = await import('./example-questions.ts');
  const threads = new ModelThreads({ ...settings, store });
  const suggestQuestions = answeredQuestions(threads);
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
  const { corroborated } = await import('./corroboration/corroborated.ts');
  return corroborated(drafter, (...asked) => threads.corroborate(...asked));
}

/** Undefined if an embedded model is configured. */
export async function createDrafter(
  { model, limits }: Pick<Config, 'model' | 'limits'>,
  library: PassageSearch,
  traceHeaders?: () => Record<string, string>,
): Promise<Drafter | undefined> {
  if (model.kind !== 'language') return undefined;
  const { languageModel } = await import('./models/language.ts');
  const { modelSilenceMs: silenceMs, replyLengthMax } = limits;
  return languageModel({ ...model, library, silenceMs, replyLengthMax, traceHeaders });
}
