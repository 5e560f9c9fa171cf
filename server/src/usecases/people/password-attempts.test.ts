import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AttemptLimit, FailedSignIns } from '../../domain/attempts.ts';
import { createPasswordAttempts } from './password-attempts.ts';

const visitor = { address: '192.0.2.1', traceId: 'trace' };

function openAttempts() {
  const limit = () => new AttemptLimit(Date.now, 1);
  const failedSignIns = new FailedSignIns(Date.now);
  const { attempt } = createPasswordAttempts({
    limits: { ofNetwork: limit(), ofPerson: limit(), ofAccount: limit(), ofDevice: limit() },
    failedSignIns,
    sha256: (text) => text,
  });
  return { failedSignIns, attempt };
}

describe('An attempt at a password', () => {
  it('counts if the password is wrong, and not if the store fails', async () => {
    const { failedSignIns, attempt } = openAttempts();
    const sign = (prove: () => Promise<string | undefined>) => attempt(visitor, { person: 'ada' }, prove);
    const unavailable = () => Promise.reject(new Error('unavailable'));
    await assert.rejects(sign(unavailable), /unavailable/);
    await assert.rejects(sign(unavailable), /unavailable/);
    assert.equal(await sign(async () => 'right'), 'right');
    assert.deepEqual(failedSignIns.take(), []);
    assert.equal(await sign(async () => undefined), undefined);
    await assert.rejects(
      sign(async () => 'right'),
      { code: 'RATE_LIMITED' },
    );
    assert.equal(failedSignIns.take()[0]?.count, 2);
  });

  it('is limited but no failed sign-in if a person chooses a password for another organization', async () => {
    const { failedSignIns, attempt } = openAttempts();
    const choose = () => attempt(visitor, { person: 'ada', isChoice: true }, async () => undefined);
    assert.equal(await choose(), undefined);
    assert.deepEqual(failedSignIns.take(), []);
    await assert.rejects(choose(), { code: 'RATE_LIMITED' });
    assert.equal(failedSignIns.take()[0]?.count, 1);
  });
});
