import type {
  Accounts,
  ApiKeys,
  Applications,
  Audits,
  KeyRequests,
  Members,
  Organizations,
  SigningKeys,
} from '../store.ts';
import { accounts } from './accounts.ts';
import { apiKeys, keyRequests } from './api-keys.ts';
import { applications, signingKeys } from './applications.ts';
import { audits } from './audit.ts';
import { invitations } from './invitations.ts';
import { members } from './members.ts';
import { organizations } from './organizations.ts';
import { sessions } from './sessions.ts';
import type { Transactions } from './work.ts';

/** The methods of a store that are written once for both databases: those that no request of the public API waits for. */
export function sharedStore(
  store: Transactions,
): Organizations & Members & Accounts & ApiKeys & KeyRequests & Applications & SigningKeys & Audits {
  return {
    ...organizations(store),
    ...members(store),
    ...accounts(store),
    ...invitations(store),
    ...sessions(store),
    ...apiKeys(store),
    ...keyRequests(store),
    ...applications(store),
    ...signingKeys(store),
    ...audits(store),
  };
}
