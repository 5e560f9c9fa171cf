import type { SigningKey, SigningKeys } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

const columns = 'id, private_jwk AS privateJwk, retired_at AS retiredAt';

export function sqliteSigningKeys(database: Database, commits: CommitQueue): SigningKeys {
  const active = database.prepare<[], SigningKey>(
    `SELECT ${columns} FROM signing_key WHERE retired_at IS NULL`,
  );
  const insert = database.prepare<[string, string, number]>(
    'INSERT INTO signing_key (id, private_jwk, created_at) VALUES (?, ?, ?)',
  );
  const retire = database.prepare<[number]>('UPDATE signing_key SET retired_at = ? WHERE retired_at IS NULL');
  const forgetRetired = database.prepare('DELETE FROM signing_key WHERE retired_at IS NOT NULL');
  // Random, so that a holder of the old key cannot have signed a token for the next epoch in advance.
  const raiseEpochs = database.prepare(
    'UPDATE application SET epoch = epoch + 1 + abs(random() % (1 << 44))',
  );
  const list = database.prepare<[number], SigningKey>(
    `SELECT ${columns} FROM signing_key WHERE retired_at IS NULL OR retired_at > ?
     ORDER BY created_at DESC, id DESC`,
  );

  return {
    findActiveSigningKey: async () => active.get(),

    keepSigningKey: ({ id, privateJwk }) =>
      commits.durable((clock) => {
        if (active.get() === undefined) insert.run(id, privateJwk, clock.now());
        return active.get()!;
      }),

    rotateSigningKey: ({ id, privateJwk }, forget) =>
      commits.durable((clock) => {
        retire.run(clock.now());
        if (forget) {
          forgetRetired.run();
          raiseEpochs.run();
        }
        insert.run(id, privateJwk, clock.now());
      }),

    listSigningKeys: async (verifyMs) => list.all(commits.now() - verifyMs),
  };
}
