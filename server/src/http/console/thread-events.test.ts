import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sessionWatches, streamSlots } from './thread-events.ts';

describe('The limit of streams', () => {
  it('applies per member, and one too many closes the oldest stream', () => {
    const takeSlot = streamSlots(2);
    const ended: string[] = [];
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2', 'a4']) {
      takeSlot(name.slice(0, 1), () => ended.push(name));
    }
    assert.deepEqual(ended, ['a1', 'a2']);
  });

  it('allows a new stream when one has ended', () => {
    const takeSlot = streamSlots(1);
    const ended: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const leave = takeSlot('member', () => ended.push(name));
      leave();
      leave();
    }
    assert.deepEqual(ended, []);
  });
});

describe('The sessions of open streams', () => {
  it('are checked once for all streams of a session, all of which end with it', async (test) => {
    test.mock.timers.enable({ apis: ['setInterval'] });
    const second = async () => {
      test.mock.timers.tick(1000);
      await new Promise(setImmediate);
    };
    const watch = sessionWatches();
    const ended = new Set<string>();
    const events: string[] = [];
    const open = (session: string, name: string) =>
      watch(session, {
        async check() {
          events.push(`check ${session}`);
          return ended.has(session);
        },
        async end() {
          events.push(`end ${name}`);
          // A peer that does not read.
          await new Promise(() => {});
        },
      });
    const leaveFirst = open('one', 'one a');
    const leaves = [open('one', 'one b'), open('one', 'one c'), open('two', 'two a')];
    await second();
    assert.deepEqual(events.splice(0), ['check one', 'check two']);

    leaveFirst();
    ended.add('one');
    await second();
    assert.deepEqual(events.splice(0), ['check one', 'check two', 'end one b', 'end one c']);
    await second();
    assert.deepEqual(events.splice(0), ['check two'], 'each stream is ended once');

    for (const leave of leaves) leave();
    await second();
    assert.deepEqual(events, []);
    const leave = open('two', 'two b');
    await second();
    assert.deepEqual(events, ['check two'], 'a stream that is opened later is checked, too');
    leave();
  });
});
