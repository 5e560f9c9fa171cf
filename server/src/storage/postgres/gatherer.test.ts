import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Gatherer, type GathererSettings } from './gatherer.ts';

class Rejected extends Error {}
class Lost extends Error {}

/** A gatherer whose flights land when the test says so. Each call's outcome is its own text in capitals. */
function gatherer(settings: Partial<GathererSettings<string>> = {}) {
  const flights: { calls: readonly string[]; land(): void; fail(error: Error): void }[] = [];
  const departures: (() => void)[] = [];
  const gathered = new Gatherer<string, string>(
    (calls) =>
      new Promise((resolve, reject) => {
        const land = () => resolve(calls.map((call) => call.toUpperCase()));
        flights.push({ calls, land, fail: reject });
      }),
    {
      flightsMax: 1,
      callsMax: 10,
      mayBeOneCallsFault: (error) => error instanceof Rejected,
      defer: (depart) => departures.push(depart),
      ...settings,
    },
  );
  return {
    call: (text: string) => gathered.call(text),
    /** Ends the turn of the event loop and returns the flights that have left, oldest first. */
    flown() {
      for (const depart of departures.splice(0)) depart();
      return flights.map(({ calls }) => calls.join(''));
    },
    /** The flight with these calls. */
    flight(calls: string) {
      const found = flights.find((flight) => flight.calls.join('') === calls);
      assert.ok(found, `no flight ${calls} among ${flights.map((flight) => flight.calls.join(''))}`);
      return found;
    },
    /** Resolves once so many flights have left. */
    async untilFlown(count: number) {
      while (flights.length < count) await new Promise(setImmediate);
    },
  };
}

describe('A gatherer', () => {
  it('lets a lone call leave at the end of its turn', async () => {
    const { call, flown, flight } = gatherer();
    const a = call('a');
    assert.deepEqual(flown(), ['a']);
    flight('a').land();
    assert.equal(await a, 'A');
  });

  it('puts calls of one turn into one flight and gives each its own outcome', async () => {
    const { call, flown, flight } = gatherer();
    const calls = [...'abc'].map(call);
    assert.deepEqual(flown(), ['abc']);
    flight('abc').land();
    assert.deepEqual(await Promise.all(calls), ['A', 'B', 'C']);
  });

  it('has no more flights under way than allowed, and gathers calls meanwhile', async () => {
    const { call, flown, flight, untilFlown } = gatherer({ flightsMax: 2 });
    for (const text of 'abcd') {
      call(text);
      flown();
    }
    assert.deepEqual(flown(), ['a', 'b']);
    flight('b').land();
    await untilFlown(3);
    assert.deepEqual(flown(), ['a', 'b', 'cd']);
  });

  it('takes calls in the order of their arrival, a bounded number at a time', async () => {
    const { call, flown, flight, untilFlown } = gatherer({ callsMax: 3 });
    for (const text of 'abcdefg') call(text);
    flown();
    flight('abc').land();
    await untilFlown(2);
    call('h');
    flight('def').land();
    await untilFlown(3);
    assert.deepEqual(flown(), ['abc', 'def', 'gh']);
  });

  it('never lets a lane wait for another, or share its flights', async () => {
    const { call, flown, flight, untilFlown } = gatherer({ laneOf: (text) => text[0]! });
    const calls = ['a1', 'b1', 'a2'].map(call);
    assert.deepEqual(flown(), ['a1a2', 'b1']);
    call('b2');
    flight('b1').land();
    assert.equal(await calls[1], 'B1');
    await untilFlown(3);
    assert.deepEqual(flown(), ['a1a2', 'b1', 'b2']);
  });

  it('keeps calls with the same key out of the same flight', async () => {
    const { call, flown, flight, untilFlown } = gatherer({ keyOf: (text) => text[0]! });
    const calls = ['a1', 'b1', 'a2', 'c1'].map(call);
    assert.deepEqual(flown(), ['a1b1c1']);
    flight('a1b1c1').land();
    await untilFlown(2);
    flight('a2').land();
    assert.deepEqual(await Promise.all(calls), ['A1', 'B1', 'A2', 'C1']);
  });

  it('fails only the call whose fault it is', async () => {
    const { call, flown, flight, untilFlown } = gatherer();
    const settled = Promise.allSettled([...'abcd'].map(call));
    flown();
    flight('abcd').fail(new Rejected());
    await untilFlown(2);
    flight('ab').land();
    await untilFlown(3);
    flight('cd').fail(new Rejected());
    await untilFlown(4);
    flight('c').fail(new Rejected('the fault of c'));
    await untilFlown(5);
    flight('d').land();
    assert.deepEqual(
      (await settled).map((each) => (each.status === 'fulfilled' ? each.value : each.reason.message)),
      ['A', 'B', 'the fault of c', 'D'],
    );
  });

  it('fails the calls of a lost flight and no others, and flies none of them again', async () => {
    const { call, flown, flight, untilFlown } = gatherer({ flightsMax: 2 });
    const first = Promise.allSettled([...'ab'].map(call));
    flown();
    const second = [...'cd'].map(call);
    flown();
    const third = call('e');
    flight('ab').fail(new Lost());
    for (const each of await first) assert.ok(each.status === 'rejected' && each.reason instanceof Lost);
    await untilFlown(3);
    flight('cd').land();
    flight('e').land();
    assert.deepEqual(await Promise.all([...second, third]), ['C', 'D', 'E']);
    assert.deepEqual(flown(), ['ab', 'cd', 'e']);
  });
});
