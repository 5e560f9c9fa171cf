import type { SigningKey, SigningKeys } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

interface SigningKeyRow {
  id: string;
  private_jwk: string;
  retired_at: number | null;
}

const columns = 'id, private_jwk, retired_at';

export function sqliteSigningKeys(database: Database, commits: CommitQueue): SigningKeys {
  const active = database.prepare<[], SigningKeyRow>(
    `SELECT ${columns} FROM signing_key WHERE retired_at IS NULL`,
  );
  const insert = database.prepare<[string, string, number]>(
    'INSERT INTO signing_key (id, private_jwk, created_at) VALUES (?, ?, ?)',
  );
  const retire = database.prepare<[number]>('UPDATE signing_key SET retired_at = ? WHERE retired_at IS NULL');
  const forgetRetired = database.prepare('DELETE FROM signing_key WHERE retired_at IS NOT NULL');
  // By chance, so that whoever holds the old key cannot have signed for the next epoch beforehand.
  const raiseEpochs = database.prepare(
    'UPDATE application SET epoch = epoch + 1 + abs(random() % (1 << 44))',
  );
  const list = database.prepare<[number], SigningKeyRow>(
    `SELECT ${columns} FROM signing_key WHERE retired_at IS NULL OR retired_at > ?
     ORDER BY created_at DESC, id DESC`,
  );

  return {
    async findActiveSigningKey() {
      const row = active.get();
      return row && toSigningKey(row);
    },

    keepSigningKey: ({ id, privateJwk }) =>
      commits.durable((clock) => {
        if (active.get() === undefined) insert.run(id, privateJwk, clock.now());
        return toSigningKey(active.get()!);
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

    listSigningKeys: async (verifyMs) => list.all(commits.now() - verifyMs).map(toSigningKey),
  };
}

function toSigningKey({ id, private_jwk, retired_at }: SigningKeyRow): SigningKey {
  return { id, privateJwk: private_jwk, retiredAt: retired_at };
}
