import { type Drafter, ModelError } from '../../port/model.ts';

export type ModelTrial = { readonly model: string; readonly ms: number } & (
  | { readonly ok: true; readonly firstTextMs: number; readonly answer: string }
  | { readonly ok: false; readonly error: string; readonly nextStep: string }
);

/** Asks a model once, without retries. */
export async function tryModel(drafter: Drafter, question: string, signal: AbortSignal): Promise<ModelTrial> {
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  const { name: model } = drafter;
  const organizationId = 'org_trial';
  const conversation = [{ role: 'user', content: question } as const];
  let firstTextMs: number | undefined;
  let answer = '';
  try {
    const request = { organizationId, accountId: null, conversation, attempt: 1, signal };
    for await (const event of drafter.draft(request)) {
      if (event.type !== 'text') continue;
      firstTextMs ??= elapsed();
      answer += event.text;
    }
  } catch (error) {
    const message = error instanceof ModelError ? error.message : 'The model did not answer in time.';
    const [, nextStep] = Object.entries(nextSteps).find(([pattern]) => new RegExp(pattern).test(message))!;
    return { ok: false, model, ms: elapsed(), error: message, nextStep };
  }
  return { ok: true, model, ms: elapsed(), firstTextMs: firstTextMs ?? elapsed(), answer };
}

/** What the operator can try, by a pattern for the message of the error. The first match counts. */
const nextSteps = {
  'answered 40[13]': 'Set SKEIN_MODEL_API_KEY to a key that may use this model.',
  'answered 404':
    'Check the model’s name after the slash in SKEIN_MODEL, and that SKEIN_MODEL_BASE_URL ends in /v1.',
  'answered 429': 'The provider limits requests, or your credit is used up: check your account there.',
  'answered 5': 'The provider has a problem: try again later, or look at its status page.',
  'answered \\d': 'The provider does not accept the request: check the model’s name in SKEIN_MODEL.',
  'could not be reached': 'Check that SKEIN_MODEL_BASE_URL is correct and that this machine can reach it.',
  TLS: 'Check that SKEIN_MODEL_BASE_URL is correct: it starts with http:// if the provider does not use TLS.',
  certificate: 'Check the certificate of SKEIN_MODEL_BASE_URL, or name its CA in NODE_EXTRA_CA_CERTS.',
  redirects:
    'Set SKEIN_MODEL_BASE_URL to the URL that it redirects to: redirects are not followed, so that the API key is sent nowhere else.',
  'malformed|stream of events':
    'Check that SKEIN_MODEL_BASE_URL is an OpenAI-compatible API, with its version: it usually ends in /v1.',
  '': 'Try again. If it takes too long, raise SKEIN_MODEL_SILENCE_MS.',
};
