import type { SigningKey, SigningKeys } from '../store.ts';
import type { Database } from './database.ts';
import { now } from './store-time.ts';

interface SigningKeyRow {
  id: string;
  private_jwk: string;
  retired_at: number | null;
}

const columns = 'id, private_jwk, retired_at';

const active = {
  name: 'find-active-signing-key',
  text: `SELECT ${columns} FROM signing_key WHERE retired_at IS NULL`,
};
const keep = {
  name: 'keep-signing-key',
  text: `INSERT INTO signing_key (id, private_jwk, created_at) VALUES ($3, $4, ${now}) ON CONFLICT DO NOTHING`,
};
const lock = { name: 'lock-signing-keys', text: 'LOCK TABLE signing_key IN EXCLUSIVE MODE' };
const retire = {
  name: 'retire-signing-key',
  text: `UPDATE signing_key SET retired_at = ${now} WHERE retired_at IS NULL`,
};
const forgetRetired = {
  name: 'forget-retired-signing-keys',
  text: 'DELETE FROM signing_key WHERE retired_at IS NOT NULL',
};
// By chance, so that whoever holds the old key cannot have signed for the next epoch beforehand.
const raiseEpochs = {
  name: 'raise-epochs',
  text: 'UPDATE application SET epoch = epoch + 1 + floor(random() * (1::bigint << 44))::bigint',
};
const list = {
  name: 'list-signing-keys',
  text: `SELECT ${columns} FROM signing_key WHERE retired_at IS NULL OR retired_at > ${now} - $3::bigint
    ORDER BY created_at DESC, id DESC`,
};

export function postgresSigningKeys(database: Database): SigningKeys {
  const { run, time } = database;
  return {
    async findActiveSigningKey() {
      const [row] = await run<SigningKeyRow>(active, []);
      return row && toSigningKey(row);
    },

    async keepSigningKey({ id, privateJwk }) {
      await run(keep, [...time.parameters(), id, privateJwk]);
      const [row] = await run<SigningKeyRow>(active, []);
      return toSigningKey(row!);
    },

    rotateSigningKey: ({ id, privateJwk }, forget) =>
      database.transaction(async (runHere) => {
        await runHere(lock, []);
        await runHere(retire, time.parameters());
        if (forget) {
          await runHere(forgetRetired, []);
          await runHere(raiseEpochs, []);
        }
        await runHere(keep, [...time.parameters(), id, privateJwk]);
      }),

    listSigningKeys: async (verifyMs) =>
      (await run<SigningKeyRow>(list, [...time.parameters(), verifyMs])).map(toSigningKey),
  };
}

function toSigningKey({ id, private_jwk, retired_at }: SigningKeyRow): SigningKey {
  return { id, privateJwk: private_jwk, retiredAt: retired_at };
}
