import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leaseWatch } from './tend-replies.ts';

const leaseMs = 15_000;

describe('The monitoring of leases', () => {
  function watch() {
    const clock = { ms: 1_000 };
    const leases = leaseWatch(leaseMs, () => clock.ms);
    const rounds = (count: number, everyMs: number, succeed = true) => {
      const answers = Array.from({ length: count }, () => {
        const may = leases.mayEndLeases();
        clock.ms += everyMs;
        leases.roundEnded(succeed);
        return may;
      });
      return answers.at(-1);
    };
    return { clock, leases, rounds };
  }

  it('ends no lease until the store has been available for the length of a lease', () => {
    const { rounds } = watch();
    assert.equal(rounds(70, 200), false);
    assert.equal(rounds(10, 200), true);
    assert.equal(rounds(100, 200), true);
  });

  it('starts over after a round that failed', () => {
    const { rounds } = watch();
    assert.equal(rounds(100, 200), true);
    assert.equal(rounds(2, 200, false), false);
    assert.equal(rounds(70, 200), false);
    assert.equal(rounds(10, 200), true);
  });

  it('starts over after a round that took long, and after a pause of the process', () => {
    const { clock, rounds } = watch();
    assert.equal(rounds(100, 200), true);
    clock.ms += 60_000;
    assert.equal(rounds(70, 200), false);
    assert.equal(rounds(10, 200), true);
    rounds(1, 60_000);
    assert.equal(rounds(70, 200), false);
    assert.equal(rounds(10, 200), true);
  });

  it('does not start over after rounds that are slow because the machine is busy', () => {
    const { rounds } = watch();
    assert.equal(rounds(10, 3_000), true);
  });
});
