import type { AttemptLimit } from '../../domain/attempts.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import { type ConfiguredModel, type ModelTrial, trialQuestion } from '../../domain/reply.ts';
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
  const most = `You have tested the model ${modelTestsMax} times, which is the limit.`;
  tests.admit(principal.userId, (seconds) => `${most} Try again in ${seconds} seconds.`);
  await limitPrompts(context, principal);
  const trial = await model.test(trialQuestion, testMsMax);
  if (trial?.ok !== true) return trial;
  return { ...trial, answer: trial.answer.slice(0, answerLengthMax).toWellFormed() };
}
