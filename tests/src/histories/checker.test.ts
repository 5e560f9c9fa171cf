import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findViolations } from './checker.ts';
import type { Call, Credential, History, SeenReply, SeenThread } from './history.ts';

const ada: Credential = { keyId: 'key-a', key: 'a', user: 'ada', organization: 'acme' };
const eve: Credential = { keyId: 'key-e', key: 'e', user: 'eve', organization: 'globex' };
const whole = 'All of it.';
const finished: SeenReply = { status: 'completed', content: whole, completedAt: 'noon' };

type Times = [startedAt: number, endedAt: number];

/** `null` is a call without a response. */
const base = ([startedAt, endedAt]: Times, status: number | null, credential = ada) => ({
  credential,
  startedAt,
  endedAt,
  status: status ?? undefined,
});
const create = (at: Times, title = 'T1', status: number | null = 201): Call => ({
  ...base(at, status),
  kind: 'create',
  id: status === 201 ? `thr_${title}` : undefined,
  title,
  reply: whole,
});
const get = (at: Times, title: string | 404, reply = finished, credential = ada): Call => ({
  ...base(at, title === 404 ? 404 : 200, credential),
  kind: 'get',
  id: 'thr_T1',
  seen: title === 404 ? undefined : { id: 'thr_T1', title, activity: '', reply },
});
const rename = (at: Times, title: string, status: number | null = 200, credential = ada): Call => ({
  ...base(at, status, credential),
  kind: 'rename',
  id: 'thr_T1',
  title,
});
const remove = (at: Times, status: number | null = 200): Call => ({
  ...base(at, status),
  kind: 'delete',
  id: 'thr_T1',
});
const page = (at: Times, titles: (string | [string, string])[], isLast = true): Call => ({
  ...base(at, 200),
  kind: 'page',
  walk: 1,
  isLast,
  threads: titles.map((entry): SeenThread => {
    const [title, activity] = typeof entry === 'string' ? [entry, ''] : entry;
    return { id: `thr_${title.split(',')[0]}`, title, activity };
  }),
});
const outage = { fault: 'kill', losesCounts: false, startedAt: 0, endedAt: 1000, recoveryMs: 1 };
const createQuotas = (limit: number) => new Map([['acme', { limit, until: 9999 }]]);

function violations(calls: Call[], rest: Partial<History> = {}): string[] {
  return findViolations({ calls, revocations: [], outages: [], quotas: new Map(), ...rest });
}

describe('The history checker accepts', () => {
  const accepted: Record<string, Call[]> = {
    'a read during a rename that shows either title': [
      create([0, 1]),
      rename([2, 9], 'T1,2'),
      get([3, 4], 'T1'),
      get([5, 6], 'T1,2'),
    ],
    'a rename without a response that takes effect late': [
      create([0, 1]),
      rename([2, 3], 'T1,2', null),
      get([4, 5], 'T1'),
      get([6, 7], 'T1,2'),
    ],
    'a rename without a response that never takes effect': [
      create([0, 1]),
      rename([2, 3], 'T1,2', 500),
      get([4, 5], 'T1'),
    ],
    'a deletion': [create([0, 1]), remove([2, 3]), get([4, 5], 404), rename([6, 7], 'T1,2', 404)],
    'a create that is found only in a listing': [
      create([0, 1], 'T1', null),
      page([2, 3], ['T1']),
      get([4, 5], 'T1'),
    ],
    'a retried create': [create([0, 1], 'T1', null), create([2, 3]), get([4, 5], 'T1')],
    'a walk past a thread that is created, and one that is deleted, meanwhile': [
      create([0, 1]),
      page([2, 3], [], false),
      remove([4, 5]),
      create([4, 5], 'T2'),
      page([6, 7], []),
      get([8, 9], 404),
      { ...get([8, 9], 'T2'), id: 'thr_T2' } as Call,
    ],
  };
  for (const [name, calls] of Object.entries(accepted)) {
    it(name, () => assert.deepEqual(violations(calls, { outages: [outage] }), []));
  }
  it('a quota that loses requests of the last second before the database died', () => {
    const calls = [create([0, 1]), get([3500, 3501], 'T1'), get([6000, 6001], 'T1')];
    const died = { ...outage, losesCounts: true, startedAt: 4000, endedAt: 5000 };
    assert.deepEqual(violations(calls, { outages: [died], quotas: createQuotas(2) }), []);
  });
});

describe('The history checker finds', () => {
  const found: Record<string, [RegExp, Call[], Partial<History>?]> = {
    'a lost create': [/no order/, [create([0, 1]), get([2, 3], 404)]],
    'a lost rename': [/no order/, [create([0, 1]), rename([2, 3], 'T1,2'), get([4, 5], 'T1')]],
    'a read that returns an older state': [
      /no order/,
      [create([0, 1]), rename([2, 9], 'T1,2'), get([3, 4], 'T1,2'), get([5, 6], 'T1')],
    ],
    'a stale title in a listing': [
      /no order/,
      [create([0, 1]), rename([2, 3], 'T1,2'), page([4, 5], ['T1']), get([6, 7], 'T1,2')],
    ],
    'a thread that comes back after its deletion': [
      /no order/,
      [create([0, 1]), remove([2, 3]), get([4, 5], 'T1')],
    ],
    'a rename that gets 404 for an existing thread': [
      /no order/,
      [create([0, 1]), rename([2, 3], 'T1,2', 404), get([4, 5], 'T1')],
    ],
    'a reply that never ends': [
      /never ended/,
      [create([0, 1]), get([2, 3], 'T1', { status: 'in_progress', content: 'All', completedAt: null })],
    ],
    'a reply that ends incomplete': [
      /ended as/,
      [create([0, 1]), get([2, 3], 'T1', { ...finished, content: 'All' })],
    ],
    'a failed reply': [
      /ended as failed/,
      [create([0, 1]), get([2, 3], 'T1', { ...finished, status: 'failed' })],
    ],
    'the text of another reply': [
      /foreign text/,
      [create([0, 1]), get([2, 3], 'T1', { ...finished, content: 'No.' })],
    ],
    'a reply that ends twice': [
      /changed after/,
      [create([0, 1]), get([2, 3], 'T1'), get([4, 5], 'T1', { ...finished, completedAt: 'one' })],
    ],
    'a walk that skips a thread': [/skips/, [create([0, 1]), page([2, 3], []), get([4, 5], 'T1')]],
    'a walk that shows a thread twice': [
      /twice/,
      [create([0, 1]), page([2, 3], ['T1'], false), page([4, 5], ['T1']), get([6, 7], 'T1')],
    ],
    'a walk that shows a thread created after its start': [
      /later/,
      [page([0, 1], [], false), create([2, 3]), page([4, 5], ['T1']), get([6, 7], 'T1')],
    ],
    'a walk out of order': [
      /out of order/,
      [
        create([0, 1]),
        create([0, 1], 'T2'),
        page(
          [2, 3],
          [
            ['T1', '09:00'],
            ['T2', '10:00'],
          ],
        ),
        get([4, 5], 'T1'),
      ],
    ],
    'a thread that nobody created': [/nobody/, [page([0, 1], ['T7'])]],
    'a thread that another tenant reads': [
      /eve may get/,
      [create([0, 1]), get([2, 3], 'T1', finished, eve), get([4, 5], 'T1')],
    ],
    'a thread that another tenant renames': [
      /eve may rename/,
      [create([0, 1]), rename([2, 3], 'T1,2', 200, eve), get([4, 5], 'T1')],
    ],
    'a revoked key that works': [
      /after the key was revoked/,
      [create([0, 1]), get([5, 6], 'T1')],
      { revocations: [{ credential: ada, startedAt: 2, endedAt: 3 }] },
    ],
    'a valid key that does not work': [
      /although the key was valid/,
      [create([0, 1]), get([2, 3], 'T1'), { ...remove([4, 5]), status: 401 } as Call],
    ],
    'an exceeded quota': [
      /quota of 1/,
      [create([0, 1]), get([2, 3], 'T1')],
      { outages: [outage], quotas: createQuotas(1) },
    ],
    'a quota that loses older requests when the database dies': [
      /2 requests served with a quota of 1/,
      [create([0, 1]), get([2500, 2501], 'T1'), get([3500, 3501], 'T1')],
      {
        outages: [{ ...outage, losesCounts: true, startedAt: 4000, endedAt: 5000 }],
        quotas: createQuotas(1),
      },
    ],
    'a quota that rejects too early': [
      /429 after 2 of 3/,
      [create([0, 1]), get([2, 3], 'T1'), { ...remove([4, 5]), status: 429 } as Call],
      { quotas: createQuotas(3) },
    ],
    'an error outside an outage': [
      /outside an outage/,
      [create([2000, 2001]), rename([2002, 2003], 'T1,2', 500), get([2004, 2005], 'T1')],
      { outages: [outage] },
    ],
  };
  for (const [name, [sentence, calls, rest]] of Object.entries(found)) {
    it(name, () => assert.match(violations(calls, rest).join('\n'), sentence));
  }
});
