import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BatcherSettings, createBatcher } from './batcher.ts';

class Rejected extends Error {}
class Lost extends Error {}
class Locked extends Error {}

/** A batcher whose batches finish when the test says so. Each call's outcome is its own text in capitals. */
function batcher(settings: Partial<BatcherSettings<string>> = {}) {
  const batches: { calls: readonly string[]; finish(): void; fail(error: Error): void }[] = [];
  const deferred: (() => void)[] = [];
  const call = createBatcher<string, string>(
    (calls) =>
      new Promise((resolve, reject) => {
        const finish = () => resolve(calls.map((call) => call.toUpperCase()));
        batches.push({ calls, finish, fail: reject });
      }),
    {
      batchesMax: 1,
      callsMax: 10,
      isCallSpecific: (error) => error instanceof Rejected,
      defer: (sendNext) => deferred.push(sendNext),
      ...settings,
    },
  );
  return {
    call,
    /** Ends the turn of the event loop and returns the batches sent so far, oldest first. */
    sent() {
      for (const sendNext of deferred.splice(0)) sendNext();
      return batches.map(({ calls }) => calls.join(''));
    },
    /** The batch with these calls. */
    batch(calls: string) {
      const found = batches.find((batch) => batch.calls.join('') === calls);
      assert.ok(found, `no batch ${calls} among ${batches.map((batch) => batch.calls.join(''))}`);
      return found;
    },
    /** Resolves once `count` batches have been sent. */
    async untilSent(count: number) {
      while (batches.length < count) await new Promise(setImmediate);
    },
  };
}

describe('A batcher', () => {
  it('sends a lone call at the end of its turn', async () => {
    const { call, sent, batch } = batcher();
    const a = call('a');
    assert.deepEqual(sent(), ['a']);
    batch('a').finish();
    assert.equal(await a, 'A');
  });

  it('puts calls of one turn into one batch and gives each its own outcome', async () => {
    const { call, sent, batch } = batcher();
    const calls = [...'abc'].map(call);
    assert.deepEqual(sent(), ['abc']);
    batch('abc').finish();
    assert.deepEqual(await Promise.all(calls), ['A', 'B', 'C']);
  });

  it('runs no more batches at once than allowed, and collects calls meanwhile', async () => {
    const { call, sent, batch, untilSent } = batcher({ batchesMax: 2 });
    for (const text of 'abcd') {
      call(text);
      sent();
    }
    assert.deepEqual(sent(), ['a', 'b']);
    batch('b').finish();
    await untilSent(3);
    assert.deepEqual(sent(), ['a', 'b', 'cd']);
  });

  it('sends calls in the order of their arrival, a bounded number at a time', async () => {
    const { call, sent, batch, untilSent } = batcher({ callsMax: 3 });
    for (const text of 'abcdefg') call(text);
    sent();
    batch('abc').finish();
    await untilSent(2);
    call('h');
    batch('def').finish();
    await untilSent(3);
    assert.deepEqual(sent(), ['abc', 'def', 'gh']);
  });

  it('never makes a lane wait for another lane or share its batches', async () => {
    const { call, sent, batch, untilSent } = batcher({ getLane: (text) => text[0]! });
    const calls = ['a1', 'b1', 'a2'].map(call);
    assert.deepEqual(sent(), ['a1a2', 'b1']);
    call('b2');
    batch('b1').finish();
    assert.equal(await calls[1], 'B1');
    await untilSent(3);
    assert.deepEqual(sent(), ['a1a2', 'b1', 'b2']);
  });

  it('keeps calls with the same key out of the same batch', async () => {
    const { call, sent, batch, untilSent } = batcher({ getKey: (text) => text[0]! });
    const calls = ['a1', 'b1', 'a2', 'c1'].map(call);
    assert.deepEqual(sent(), ['a1b1c1']);
    batch('a1b1c1').finish();
    await untilSent(2);
    batch('a2').finish();
    assert.deepEqual(await Promise.all(calls), ['A1', 'B1', 'A2', 'C1']);
  });

  it('fails only the faulty call', async () => {
    const { call, sent, batch, untilSent } = batcher();
    const settled = Promise.allSettled([...'abcd'].map(call));
    sent();
    batch('abcd').fail(new Rejected());
    await untilSent(2);
    batch('ab').finish();
    await untilSent(3);
    batch('cd').fail(new Rejected());
    await untilSent(4);
    batch('c').fail(new Rejected('the fault of c'));
    await untilSent(5);
    batch('d').finish();
    assert.deepEqual(
      (await settled).map((each) => (each.status === 'fulfilled' ? each.value : each.reason.message)),
      ['A', 'B', 'the fault of c', 'D'],
    );
  });

  it('resends the calls of a batch that waited too long in groups, without delaying other calls', async () => {
    const isolation = {
      getGroup: (text: string) => text[0]!,
      waitedTooLong: (error: unknown) => error instanceof Locked,
    };
    const { call, sent, batch, untilSent } = batcher({ isolation });
    const settled = Promise.allSettled(['a1', 'b1', 'a2'].map(call));
    sent();
    batch('a1b1a2').fail(new Locked());
    await new Promise(setImmediate);
    assert.deepEqual(sent().slice(1), ['a1a2', 'b1']);
    batch('b1').finish();
    await new Promise(setImmediate);
    const late = ['b2', 'a3'].map(call);
    assert.equal(sent()[3], 'b2', 'while a3 waits for the others of its group');
    batch('b2').finish();
    batch('a1a2').fail(new Locked());
    await untilSent(5);
    batch('a3').finish();
    assert.deepEqual(await Promise.all(late), ['B2', 'A3']);
    assert.deepEqual(
      (await settled).map(({ status }) => status),
      ['rejected', 'fulfilled', 'rejected'],
    );
    call('a4');
    assert.deepEqual(sent().slice(4), ['a3', 'a4']);
  });

  it('fails only the calls of a lost batch, and resends none of them', async () => {
    const { call, sent, batch, untilSent } = batcher({ batchesMax: 2 });
    const first = Promise.allSettled([...'ab'].map(call));
    sent();
    const second = [...'cd'].map(call);
    sent();
    const third = call('e');
    batch('ab').fail(new Lost());
    for (const each of await first) assert.ok(each.status === 'rejected' && each.reason instanceof Lost);
    await untilSent(3);
    batch('cd').finish();
    batch('e').finish();
    assert.deepEqual(await Promise.all([...second, third]), ['C', 'D', 'E']);
    assert.deepEqual(sent(), ['ab', 'cd', 'e']);
  });
});
