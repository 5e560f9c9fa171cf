import type { SigningKey, SigningKeys } from '../store.ts';
import type { Database } from './database.ts';
import { sql, statement } from './sql.ts';
import { now } from './store-time.ts';

const columns = sql`id, private_jwk AS "privateJwk", retired_at AS "retiredAt"`;

const findActive = statement('find-active-signing-key')`
  SELECT ${columns} FROM signing_key WHERE retired_at IS NULL`;
const insert = statement('keep-signing-key')`INSERT INTO signing_key (id, private_jwk, created_at)
  VALUES (:id, :privateJwk, ${now}) ON CONFLICT DO NOTHING`;
const lock = statement('lock-signing-keys')`LOCK TABLE signing_key IN EXCLUSIVE MODE`;
const retire = statement('retire-signing-key')`
  UPDATE signing_key SET retired_at = ${now} WHERE retired_at IS NULL`;
const removeRetired = statement('forget-retired-signing-keys')`
  DELETE FROM signing_key WHERE retired_at IS NOT NULL`;
// By a random step, so that the holder of the old key cannot have signed a token for the next epoch in advance.
const raiseEpochs = statement('raise-epochs')`
  UPDATE application SET epoch = epoch + 1 + floor(random() * (1::bigint << 44))::bigint`;
const list = statement('list-signing-keys')`SELECT ${columns} FROM signing_key
  WHERE retired_at IS NULL OR retired_at > ${now} - :verifyMs::bigint ORDER BY created_at DESC, id DESC`;

export function postgresSigningKeys(database: Database): SigningKeys {
  const { run } = database;
  return {
    findActiveSigningKey: async () => (await run<SigningKey>(findActive))[0],

    async keepSigningKey({ id, privateJwk }) {
      await run(insert, { id, privateJwk });
      return (await run<SigningKey>(findActive))[0]!;
    },

    rotateSigningKey: ({ id, privateJwk }, forget) =>
      database.transaction(async (runHere) => {
        await runHere(lock);
        await runHere(retire);
        if (forget) {
          await runHere(removeRetired);
          await runHere(raiseEpochs);
        }
        await runHere(insert, { id, privateJwk });
      }),

    listSigningKeys: (verifyMs) => run<SigningKey>(list, { verifyMs }),
  };
}
