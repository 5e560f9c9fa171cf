import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AttemptLimit, FailedSignIns } from '../../domain/attempts.ts';
import type { Context } from '../context.ts';
import { attempt } from './passwords.ts';

describe('An attempt at a password', () => {
  it('counts if the password is wrong, and not if the store fails', async () => {
    const limit = () => new AttemptLimit(Date.now, 1);
    const context = {
      sha256: (text: string) => text,
      failedSignIns: new FailedSignIns(Date.now),
      passwordAttempts: {
        ofPlace: limit(),
        ofPerson: limit(),
        ofAccount: limit(),
        ofDevice: limit(),
      },
    } as Partial<Context> as Context;
    const call = { context, address: '192.0.2.1', traceId: 'trace' };
    const sign = (prove: () => Promise<string | undefined>) => attempt(call, { person: 'ada' }, prove);
    const unavailable = () => Promise.reject(new Error('unavailable'));
    await assert.rejects(sign(unavailable), /unavailable/);
    await assert.rejects(sign(unavailable), /unavailable/);
    assert.equal(await sign(async () => 'right'), 'right');
    assert.deepEqual(context.failedSignIns.take(), []);
    assert.equal(await sign(async () => undefined), undefined);
    await assert.rejects(
      sign(async () => 'right'),
      { code: 'RATE_LIMITED' },
    );
    assert.equal(context.failedSignIns.take()[0]?.count, 2);
  });
});
