import { type ConfiguredModel, type ModelTrial, trialQuestion } from '../../domain/reply.ts';
import type { UserChange } from '../audit-note.ts';
import type { AuditLog } from './audit-log.ts';
import type { LimitPrompts } from './limit-prompts.ts';

const testMsMax = 30_000;
const answerLengthMax = 500;

interface ModelTestNeeds {
  readonly audit: Pick<AuditLog, 'record'>;
  readonly limitPrompts: LimitPrompts;
}

export type TestModel = ReturnType<typeof createModelTest>;

export function createModelTest({ audit, limitPrompts }: ModelTestNeeds) {
  return testModel;

  /** Asks the model a fixed question, which counts as a prompt and is audited. Null without a provider. */
  async function testModel(
    { principal, initiator }: UserChange,
    model: ConfiguredModel,
  ): Promise<ModelTrial | null> {
    if (model.provider === null) return null;
    await limitPrompts(principal);
    const { organizationId } = principal;
    await audit.record({ organizationId, initiator }, 'model.tested', organizationId, { model: model.name });
    const trial = await model.test(trialQuestion, testMsMax);
    if (trial?.ok !== true) return trial ?? null;
    return { ...trial, answer: trial.answer.slice(0, answerLengthMax).toWellFormed() };
  }
}
