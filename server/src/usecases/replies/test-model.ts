import type { AttemptLimit } from '../../domain/attempts.ts';
import { ServiceError } from '../../domain/errors.ts';
import { type ConfiguredModel, type ModelTrial, trialQuestion } from '../../domain/model-trial.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { Context } from '../context.ts';
import { limitPrompts } from './limit-prompts.ts';

/** The number of tests that one person can run per window, in each process. */
export const modelTestsMax = 5;
export const modelTestsWindowMs = 600_000;
const testMsMax = 30_000;
const answerLengthMax = 500;

/**
 * Asks the configured model a fixed question, for an admin. A test also counts as a prompt of the console, so that the
 * limits of the person and of the organization hold over all nodes. Undefined where there is no provider to ask.
 */
export async function testModel(
  context: Context,
  principal: UserPrincipal,
  model: ConfiguredModel,
  tests: AttemptLimit,
): Promise<ModelTrial | undefined> {
  if (model.provider === null) return undefined;
  const waitSeconds = tests.waitSeconds(principal.userId);
  if (waitSeconds > 0) {
    const sentence = `You have tested the model ${modelTestsMax} times, which is the limit. Try again in ${waitSeconds} seconds.`;
    throw new ServiceError('RATE_LIMITED', sentence, { retryAfterSeconds: waitSeconds });
  }
  tests.count(principal.userId);
  await limitPrompts(context, principal);
  const trial = await model.test(trialQuestion, testMsMax);
  if (trial?.ok !== true) return trial;
  return { ...trial, answer: trial.answer.slice(0, answerLengthMax).toWellFormed() };
}
