import { configuredModel } from '../compose.ts';
import { trialQuestion } from '../domain/model-trial.ts';
import type { BareCommand, Result } from './command.ts';

export const modelTest: BareCommand = {
  name: 'model test',
  usage: '[QUESTION]',
  summary: 'Ask the configured model one question and show its answer or the error',
  positionals: ['[QUESTION]'],
  async runAlone({ positionals: [question = trialQuestion] }, config): Promise<Result> {
    const trial = await configuredModel(config).test(question, config.limits.replyDeadlineMs);
    if (trial === undefined) {
      const { kind } = config.model;
      const text = `SKEIN_MODEL is ${kind}: it runs inside the service, so there is no provider to test.`;
      return { json: { model: kind, ok: true }, text };
    }
    const { model, ms } = trial;
    const text = trial.ok
      ? `ok    ${model}: first text after ${trial.firstTextMs} ms, complete after ${ms} ms\n\n${trial.answer}`
      : `FAIL  ${model}, after ${ms} ms\n      ${trial.error}\n      ${trial.nextStep}`;
    return { json: trial, text, exitCode: trial.ok ? 0 : 1 };
  },
};
