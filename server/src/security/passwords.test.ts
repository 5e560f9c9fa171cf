import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPasswords } from './passwords.ts';

describe('Passwords', () => {
  const passwordsOf = createPasswords();
  const passwords = passwordsOf('192.0.2.1');

  it('are stored as argon2id hashes with 19 MiB, two passes and a unique salt', async () => {
    const [one, other] = await Promise.all([passwords.hash('violin sky'), passwords.hash('violin sky')]);
    assert.match(one, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.notEqual(one, other);
  });

  it('match only the right password, and never without a hash', async () => {
    const hash = await passwords.hash('violin sky');
    const found = await Promise.all([
      passwords.find([hash], 'violin sky'),
      passwords.find([hash], 'violin sky '),
      passwords.find([hash], ''),
      passwords.find([], ''),
      passwords.find([], 'violin sky'),
    ]);
    assert.deepEqual(found, [hash, undefined, undefined, undefined, undefined]);
  });

  it('of one person are distinguished, with equal or different salts', async () => {
    const first = await passwords.hash('violin sky');
    const sibling = await passwords.hash('harbour light', first);
    const stranger = await passwords.hash('garden gate');
    assert.equal(sibling.split('$')[4], first.split('$')[4], 'one computation compares both');
    const all = [first, sibling, stranger];
    for (const [password, hash] of [
      ['violin sky', first],
      ['harbour light', sibling],
      ['garden gate', stranger],
      ['another', undefined],
    ] as const)
      assert.equal(await passwords.find(all, password), hash);
  });

  it('are the same however a letter is composed', async () => {
    const hash = await passwords.hash('Zoe\u0308 und Amélie');
    assert.equal(await passwords.find([hash], 'Zo\u00eb und Ame\u0301lie'), hash);
  });

  it('are all checked when many arrive at once', async () => {
    const hash = await passwords.hash('violin sky');
    const attempts = Array.from({ length: 12 }, (_, place) =>
      passwords.find([hash], place % 3 === 0 ? 'violin sky' : 'guess'),
    );
    const right = (await Promise.all(attempts)).filter((found) => found !== undefined);
    assert.equal(right.length, 4);
  });

  it('that one network checks many times do not delay those of another', async () => {
    const hash = await passwords.hash('violin sky');
    let done = 0;
    const flood = Array.from({ length: 20 }, async () => {
      assert.equal(await passwords.find([hash], 'violin sky'), hash);
      done += 1;
    });
    const other = passwordsOf('198.51.100.7');
    for (const check of [
      () => other.find([hash], 'violin sky'),
      () => other.find([], 'guess'),
      () => other.hash('harbour light'),
    ]) {
      const before = done;
      await check();
      assert.ok(done - before < 6, `${done - before} checks of the flood came first`);
    }
    await Promise.all(flood);
  });

  it('that cannot be checked do not block others', async () => {
    for (let time = 0; time < 3; time += 1) await assert.rejects(passwords.find(['not a hash'], 'x'));
    const hash = await passwords.hash('violin sky');
    assert.equal(await passwords.find([hash], 'violin sky'), hash);
  });
});
