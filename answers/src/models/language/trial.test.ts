import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Drafter, ModelError } from '../../port/model.ts';
import { tryModel } from './trial.ts';

function failing(error: Error): Drafter {
  return {
    name: 'openai-compatible/x',
    // biome-ignore lint/correctness/useYield: it fails before its first event.
    async *draft() {
      throw error;
    },
  } as Drafter;
}

describe('The trial of a model', () => {
  const cases: readonly (readonly [ModelError, RegExp])[] = [
    [new ModelError('The provider redirects to another URL.', { transient: false }), /redirects to/],
    [new ModelError('The provider did not answer with a stream of events.', { transient: false }), /\/v1/],
    [new ModelError('The provider answered with a malformed stream.', { transient: false }), /\/v1/],
    [new ModelError('The provider answered 401.', { transient: false }), /SKEIN_MODEL_API_KEY/],
  ];
  for (const [error, advice] of cases) {
    it(`says what to do after: ${error.message}`, async () => {
      const trial = await tryModel(failing(error), 'Hello?', AbortSignal.timeout(10_000));
      assert.ok(!trial.ok);
      assert.match(trial.nextStep, advice);
    });
  }
});
