import { FailedAttempts } from '../../domain/attempts.ts';
import { modelTestsMax, modelTestsWindowMs, testModel } from '../../usecases/replies/test-model.ts';
import type { ConsoleOptions } from './options.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { modelSchema, modelTestSchema } from './setting-schemas.ts';

export function modelRoutes({ model }: Pick<ConsoleOptions, 'model'>): readonly ConsoleRoute[] {
  const tests = new FailedAttempts(Date.now, modelTestsMax, modelTestsWindowMs);
  return [
    defineConsoleRoute({
      method: 'GET',
      url: '/model',
      caller: 'admin',
      response: modelSchema,
      async handle() {
        return { name: model.name, provider: model.provider };
      },
    }),
    defineConsoleRoute({
      method: 'POST',
      url: '/model/test',
      caller: 'admin',
      response: modelTestSchema,
      async handle({ context, principal }) {
        return { result: (await testModel(context, principal, model, tests)) ?? null };
      },
    }),
  ];
}
