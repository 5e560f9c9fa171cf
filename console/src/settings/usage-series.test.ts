import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../api/contract.ts';
import { othersName, toSeries } from './usage-series.ts';

const periods = ['2026-11-13', '2026-11-14', '2026-11-15'];
const count = (change: Partial<Json<'usageCount'>>): Json<'usageCount'> => ({
  period: '2026-11-15',
  credential: { id: 'key_1', kind: 'key', name: 'Bot' },
  operation: 'getThread',
  outcome: 'OK',
  requests: 1,
  ...change,
});

describe('Usage as series', () => {
  it('adds up requests with the same outcome by day, the largest series first', () => {
    const counts = [
      count({ outcome: 'NOT_FOUND', requests: 2 }),
      count({ requests: 3 }),
      count({ operation: 'listThreads', requests: 4 }),
      count({ period: '2026-11-13', requests: 5 }),
    ];
    assert.deepEqual(toSeries({ periods, counts }, 'outcome'), [
      { name: 'Success', requests: [5, 0, 7], total: 12 },
      { name: 'NOT_FOUND', requests: [0, 0, 2], total: 2 },
    ]);
  });

  it('shows a credential by its name, or by its id if it has none', () => {
    const unnamed = { id: 'key_2', kind: 'key', name: '' } as const;
    const counts = [count({ requests: 2 }), count({ credential: unnamed })];
    assert.deepEqual(
      toSeries({ periods, counts }, 'credential').map(({ name }) => name),
      ['Bot', 'key_2'],
    );
  });

  it('combines the smallest series into one, without losing a request', () => {
    const counts = Array.from({ length: 9 }, (_, index) =>
      count({ operation: `operation ${index}`, requests: index + 1 }),
    );
    const series = toSeries({ periods, counts }, 'operation');
    assert.equal(series.length, 6);
    assert.equal(series.at(-1)?.name, othersName);
    assert.equal(
      series.reduce((total, one) => total + one.total, 0),
      45,
    );
  });

  it('leaves out days that are not shown', () => {
    assert.deepEqual(toSeries({ periods, counts: [count({ period: '2026-01-01' })] }, 'outcome'), []);
  });
});
