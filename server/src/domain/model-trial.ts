/** The language model that the operator has configured, without its key. */
export interface ConfiguredModel {
  /** As in SKEIN_MODEL. */
  readonly name: string;
  /** Null for a model that runs inside the service: there is nothing to test. */
  readonly provider: string | null;
  /** Asks the provider one question, without retries. Undefined without a provider. */
  test(question: string, withinMs: number): Promise<ModelTrial | undefined>;
}

/** The outcome of one question to a provider. */
export type ModelTrial = { readonly model: string; readonly ms: number } & (
  | { readonly ok: true; readonly firstTextMs: number; readonly answer: string }
  | { readonly ok: false; readonly error: string; readonly nextStep: string }
);

export const trialQuestion = 'Reply with one short sentence: what is a skein?';
