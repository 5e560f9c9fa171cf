import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import type { ReplyBacklog } from '../storage/port/store.ts';
import { watchStore } from './metrics.ts';

/** A store that answers when the test tells it to. */
function askedStore() {
  const questions: PromiseWithResolvers<ReplyBacklog>[] = [];
  const store = {
    connections: () => undefined,
    ping: async () => {},
    clockAheadMs: async () => 0,
    replyBacklog() {
      questions.push(Promise.withResolvers());
      return questions.at(-1)!.promise;
    },
  };
  return { store, questions };
}

describe('The store gauges of a scrape', () => {
  it('time out, and send no second query before the first has returned', async () => {
    const registry = new Registry();
    const { store, questions } = askedStore();
    watchStore(registry, store, 5);
    await registry.metrics();
    await Promise.all([registry.metrics(), registry.metrics()]);
    assert.match(await registry.metrics(), /^skein_store_up 0$/m);
    assert.equal(questions.length, 1);
    questions[0]?.reject(new Error('The connection is lost.'));
    await registry.metrics();
    await registry.metrics();
    assert.equal(questions.length, 2);
  });

  it('have values once the store responds, and are NaN while it does not', async () => {
    const registry = new Registry();
    const { store, questions } = askedStore();
    watchStore(registry, store, 60_000);
    const scraped = registry.metrics();
    questions[0]?.resolve({ waiting: 3, held: 2, suspects: 0, oldestWaitingMs: 1500 });
    const shown = await scraped;
    assert.match(shown, /^skein_store_up 1$/m);
    assert.match(shown, /^skein_replies_running\{state="waiting"\} 3$/m);
    assert.match(shown, /^skein_replies_running\{state="held"\} 2$/m);
    assert.match(shown, /^skein_replies_oldest_waiting_seconds 1\.5$/m);
    const failing = registry.metrics();
    questions[1]?.reject(new Error('The connection is lost.'));
    const away = await failing;
    assert.match(away, /^skein_store_up 0$/m);
    assert.match(away, /^skein_replies_running\{state="waiting"\} Nan$/im);
  });

  it('report a store that can be read but not written as down', async () => {
    const registry = new Registry();
    const { store, questions } = askedStore();
    const readOnly = { ...store, ping: () => Promise.reject(new Error('The disk is full.')) };
    watchStore(registry, readOnly, 60_000);
    const scraped = registry.metrics();
    questions[0]?.resolve({ waiting: 0, held: 0, suspects: 0, oldestWaitingMs: 0 });
    assert.match(await scraped, /^skein_store_up 0$/m);
  });
});
