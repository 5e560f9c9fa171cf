import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { createIdGenerator } from '../src/domain/id.ts';
import { defaultLimits } from '../src/domain/limits.ts';
import type { Store } from '../src/storage/port/store.ts';
import { type Authorize, createAuthorize } from '../src/usecases/authorize.ts';
import { createAdmission } from '../src/usecases/credentials/authenticate.ts';
import { createSessions } from '../src/usecases/people/sessions.ts';

/** Authorizes the writes of a store as the service does. */
export function authorizeWrites(store: Store): Authorize {
  const sha256 = (text: string) => hash('sha256', text);
  const ids = createIdGenerator(Date.now, randomBytes);
  const accessTokens = { read: async () => undefined };
  const admission = createAdmission({ store, crc32, sha256, accessTokens, now: Date.now });
  const sessions = createSessions({ store, ids, randomBytes, sha256, limits: defaultLimits });
  return createAuthorize({ recheckKey: admission.recheckKey, recheckSession: sessions.recheck });
}
