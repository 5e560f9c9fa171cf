import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReasoningSteps } from './reasoning-steps.ts';

function stepsOf(pieces: readonly string[]): string[] {
  const steps = new ReasoningSteps();
  return [...pieces.flatMap((piece) => steps.add(piece)), ...steps.end()];
}

describe('reasoning steps', () => {
  it('are the first sentence of each paragraph, however the text is split', () => {
    const text = '**Refunds** come first. They take long.\n\n- Then the\nfees. And more.\n \n\n\nDone';
    const expected = ['Refunds come first.', 'Then the fees.', 'Done'];
    assert.deepEqual(stepsOf([text]), expected);
    assert.deepEqual(stepsOf([...text]), expected);
    for (let cut = 0; cut <= text.length; cut++) {
      assert.deepEqual(stepsOf([text.slice(0, cut), text.slice(cut)]), expected, `cut at ${cut}`);
    }
  });

  it('are returned when their paragraph ends', () => {
    const steps = new ReasoningSteps();
    assert.deepEqual(steps.add('One.\n'), []);
    assert.deepEqual(steps.add('\nTwo'), ['One.']);
    assert.deepEqual(steps.end(), ['Two']);
    assert.deepEqual(steps.end(), []);
  });

  it('are empty for blank reasoning', () => {
    assert.deepEqual(stepsOf(['', ' \n\n \n', '\n\n']), []);
  });

  it('stay short for any paragraph', () => {
    const [step = '', ...more] = stepsOf(Array.from({ length: 5_000 }, () => 'word '));
    assert.deepEqual(more, []);
    assert.ok(step.endsWith('word…') && step.length <= 200, step);
  });
});
