import { type ConfiguredModel, type ModelTrial, trialQuestion } from '../../domain/reply.ts';
import type { UserChange } from './audit-log.ts';
import { limitPrompts } from './limit-prompts.ts';
import { recordAction } from './record-action.ts';

const testMsMax = 30_000;
const answerLengthMax = 500;

/** Asks the model a fixed question, which counts as a prompt and is audited. Null without a provider. */
export async function testModel(call: UserChange, model: ConfiguredModel): Promise<ModelTrial | null> {
  if (model.provider === null) return null;
  await limitPrompts(call);
  const { organizationId } = call.principal;
  const change = { ...call, organizationId };
  await recordAction(change, 'model.tested', organizationId, { model: model.name });
  const trial = await model.test(trialQuestion, testMsMax);
  if (trial?.ok !== true) return trial ?? null;
  return { ...trial, answer: trial.answer.slice(0, answerLengthMax).toWellFormed() };
}
