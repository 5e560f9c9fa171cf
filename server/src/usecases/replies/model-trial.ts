import { AttemptLimit } from '../../domain/attempts.ts';
import { type ConfiguredModel, type ModelTrial, trialQuestion } from '../../domain/reply.ts';
import type { PersonCall } from '../context.ts';
import { limitPrompts } from './limit-prompts.ts';

const testsMax = 5;
const windowMs = 600_000;
const testMsMax = 30_000;
const answerLengthMax = 500;

/** Asks the model a fixed question. Counts as a prompt, whose limits hold over all nodes. Null without a provider. */
export function modelTests(model: ConfiguredModel) {
  const tests = new AttemptLimit(Date.now, testsMax, windowMs);
  return async (call: PersonCall): Promise<ModelTrial | null> => {
    if (model.provider === null) return null;
    const most = `You have tested the model ${testsMax} times, which is the limit.`;
    tests.admit(call.principal.userId, (seconds) => `${most} Try again in ${seconds} seconds.`);
    await limitPrompts(call);
    const trial = await model.test(trialQuestion, testMsMax);
    if (trial?.ok !== true) return trial ?? null;
    return { ...trial, answer: trial.answer.slice(0, answerLengthMax).toWellFormed() };
  };
}
