import type { OrganizationId } from '../../../domain/id.ts';
import type { ModelTrial } from '../../../domain/reply.ts';
import { type Drafter, ModelError } from '../../model.ts';
import { ProviderRefusal } from './errors.ts';

/** Asks a model once, without retries. */
export async function tryModel(drafter: Drafter, question: string, signal: AbortSignal): Promise<ModelTrial> {
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  const { name: model } = drafter;
  let firstTextMs: number | undefined;
  let answer = '';
  try {
    const request = {
      organizationId: 'org_trial' as OrganizationId,
      accountId: null,
      conversation: [{ role: 'user', content: question } as const],
      attempt: 1,
      signal,
    };
    for await (const event of drafter.draft(request)) {
      if (event.type !== 'text') continue;
      firstTextMs ??= elapsed();
      answer += event.text;
    }
  } catch (error) {
    const message = error instanceof ModelError ? error.message : 'The model did not answer in time.';
    return { ok: false, model, ms: elapsed(), error: message, nextStep: nextStepAfter(error) };
  }
  return { ok: true, model, ms: elapsed(), firstTextMs: firstTextMs ?? elapsed(), answer };
}

/** Suggests to the operator what to try. */
function nextStepAfter(error: unknown): string {
  if (error instanceof ProviderRefusal) return nextStepByStatus(error.status);
  const message = error instanceof Error ? error.message : '';
  if (message.includes('could not be reached')) {
    return 'Check that SKEIN_MODEL_BASE_URL is right and that this machine can reach it.';
  }
  if (message.includes('certificate')) {
    return 'Check the certificate of SKEIN_MODEL_BASE_URL, or name its CA in NODE_EXTRA_CA_CERTS.';
  }
  if (message.includes('redirects')) {
    return 'Set SKEIN_MODEL_BASE_URL to the address that it redirects to: redirects are not followed, so that the API key is sent nowhere else.';
  }
  if (message.includes('malformed') || message.includes('stream of events')) {
    return 'Check that SKEIN_MODEL_BASE_URL is an OpenAI-compatible API, with its version: it usually ends in /v1.';
  }
  return 'Try again. If it takes too long, raise SKEIN_MODEL_SILENCE_MS.';
}

function nextStepByStatus(status: number): string {
  if (status === 401 || status === 403) return 'Set SKEIN_MODEL_API_KEY to a key that may use this model.';
  if (status === 404) {
    return 'Check the model’s name after the slash in SKEIN_MODEL, and that SKEIN_MODEL_BASE_URL ends in /v1.';
  }
  if (status === 429)
    return 'The provider limits requests, or your credit is used up: check your account there.';
  if (status >= 500) return 'The provider has a problem: try again later, or look at its status page.';
  return 'The provider does not accept the request: check the model’s name in SKEIN_MODEL.';
}
