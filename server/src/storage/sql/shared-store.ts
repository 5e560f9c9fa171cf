import { accounts } from './accounts.ts';
import { apiKeys } from './api-keys.ts';
import { applications, signingKeys } from './applications.ts';
import { audits } from './audit.ts';
import { invitations } from './invitations.ts';
import { organizations } from './organizations.ts';
import { ratings } from './ratings.ts';
import { requests } from './requests.ts';
import { statement } from './sql.ts';
import { method, row, run, type Transactions } from './work.ts';

const keepSecret = statement('keep-secret')`
  INSERT INTO secret (name, value) VALUES (:name, :candidate) ON CONFLICT DO NOTHING`;
const readSecret = statement('read-secret')`SELECT value FROM secret WHERE name = :name`;

/** The methods of a store that are written once for both databases: those that no request of the public API waits for. */
export const sharedStore = (store: Transactions) => ({
  ...organizations(store),
  ...accounts(store),
  ...invitations(store),
  ...apiKeys(store),
  ...applications(store),
  ...signingKeys(store),
  ...audits(store),
  ...ratings(store),
  ...requests(store),

  secret: method(store.write, function* (name: string, candidate: Uint8Array) {
    yield* run(keepSecret, { name, candidate });
    return (yield* row<{ value: Buffer }>(readSecret, { name }))!.value;
  }),
});
