import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AttemptLimit, FailedSignIns } from '../../domain/attempts.ts';
import type { Context } from '../context.ts';
import { attempt } from './passwords.ts';

function visitor() {
  const limit = () => new AttemptLimit(Date.now, 1);
  const context = {
    sha256: (text: string) => text,
    failedSignIns: new FailedSignIns(Date.now),
    passwordAttempts: {
      ofNetwork: limit(),
      ofPerson: limit(),
      ofAccount: limit(),
      ofDevice: limit(),
    },
  } as Partial<Context> as Context;
  return { context, call: { context, address: '192.0.2.1', traceId: 'trace' } };
}

describe('An attempt at a password', () => {
  it('counts if the password is wrong, and not if the store fails', async () => {
    const { context, call } = visitor();
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

  it('is limited but no failed sign-in if a person chooses a password for another organization', async () => {
    const { context, call } = visitor();
    const choose = () => attempt(call, { person: 'ada', isChoice: true }, async () => undefined);
    assert.equal(await choose(), undefined);
    assert.deepEqual(context.failedSignIns.take(), []);
    await assert.rejects(choose(), { code: 'RATE_LIMITED' });
    assert.equal(context.failedSignIns.take()[0]?.count, 1);
  });
});
