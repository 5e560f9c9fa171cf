import type {
  Accounts,
  ApiKeys,
  Applications,
  AuditSearches,
  Audits,
  KeyRequests,
  Mails,
  Members,
  Organizations,
  Ratings,
  Requests,
  SigningKeys,
  Store,
  Usages,
} from '../store.ts';
import { accounts } from './accounts.ts';
import { apiKeys, keyRequests } from './api-keys.ts';
import { applications, signingKeys } from './applications.ts';
import { audits } from './audit.ts';
import { invitations } from './invitations.ts';
import { mails } from './mails.ts';
import { members } from './members.ts';
import { organizations } from './organizations.ts';
import { ratings } from './ratings.ts';
import { requests } from './requests.ts';
import { sessions } from './sessions.ts';
import { statement } from './sql.ts';
import { usages } from './usages.ts';
import { row, run, type Transactions } from './work.ts';

const keepSecret = statement('keep-secret')`
  INSERT INTO secret (name, value) VALUES (:name, :candidate) ON CONFLICT DO NOTHING`;
const readSecret = statement('read-secret')`SELECT value FROM secret WHERE name = :name`;

type SharedStore = Organizations &
  Members &
  Accounts &
  Mails &
  ApiKeys &
  KeyRequests &
  Applications &
  SigningKeys &
  Audits &
  Ratings &
  AuditSearches &
  Requests &
  Usages &
  Pick<Store, 'secret'>;

/** The methods of a store that are written once for both databases: those that no request of the public API waits for. */
export function sharedStore(store: Transactions): SharedStore {
  return {
    ...organizations(store),
    ...members(store),
    ...accounts(store),
    ...invitations(store),
    ...mails(store),
    ...sessions(store),
    ...apiKeys(store),
    ...keyRequests(store),
    ...applications(store),
    ...signingKeys(store),
    ...audits(store),
    ...ratings(store),
    ...requests(store),
    ...usages(store),

    secret: (name, candidate) =>
      store.write(function* () {
        yield* run(keepSecret, { name, candidate });
        return (yield* row<{ value: Buffer }>(readSecret, { name }))!.value;
      }),
  };
}
