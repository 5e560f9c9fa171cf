import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPasswords } from './passwords.ts';

describe('Passwords', () => {
  const passwords = createPasswords();

  it('are kept as argon2id hashes of 19 MiB and two passes, each with a salt of its own', async () => {
    const [one, other] = await Promise.all([passwords.hash('violin sky'), passwords.hash('violin sky')]);
    assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.notEqual(one, other);
  });

  it('are recognised, and nothing else is, nor anything where there is none', async () => {
    const hash = await passwords.hash('violin sky');
    const verdicts = await Promise.all([
      passwords.verify(hash, 'violin sky'),
      passwords.verify(hash, 'violin sky '),
      passwords.verify(hash, ''),
      passwords.verify(null, ''),
      passwords.verify(null, 'violin sky'),
    ]);
    assert.deepEqual(verdicts, [true, false, false, false, false]);
  });

  it('are the same however a letter is composed', async () => {
    const hash = await passwords.hash('Zoe\u0308 und Amélie');
    assert.equal(await passwords.verify(hash, 'Zo\u00eb und Ame\u0301lie'), true);
  });

  it('are all heard when many come at once', async () => {
    const hash = await passwords.hash('violin sky');
    const attempts = Array.from({ length: 12 }, (_, place) =>
      passwords.verify(hash, place % 3 === 0 ? 'violin sky' : 'guess'),
    );
    const right = (await Promise.all(attempts)).filter((verdict) => verdict);
    assert.equal(right.length, 4);
  });

  it('that cannot be checked keep no place from others', async () => {
    for (let time = 0; time < 3; time += 1) await assert.rejects(passwords.verify('not a hash', 'x'));
    assert.equal(await passwords.verify(await passwords.hash('violin sky'), 'violin sky'), true);
  });
});
