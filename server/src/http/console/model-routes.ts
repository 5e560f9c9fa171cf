import { FailedAttempts } from '../../domain/attempts.ts';
import { modelTestsMax, modelTestsWindowMs, testModel } from '../../usecases/replies/test-model.ts';
import type { ModelJson, ModelTestJson } from './contract.ts';
import type { ConsoleOptions } from './options.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';

export function modelRoutes({ model }: Pick<ConsoleOptions, 'model'>): readonly ConsoleRoute[] {
  const tests = new FailedAttempts(Date.now, modelTestsMax, modelTestsWindowMs);
  return [
    defineConsoleRoute({
      method: 'GET',
      url: '/model',
      caller: 'admin',
      async handle() {
        return { body: { name: model.name, provider: model.provider } satisfies ModelJson };
      },
    }),
    defineConsoleRoute({
      method: 'POST',
      url: '/model/test',
      caller: 'admin',
      async handle({ context, principal }) {
        const result = (await testModel(context, principal, model, tests)) ?? null;
        return { body: { result } satisfies ModelTestJson };
      },
    }),
  ];
}
