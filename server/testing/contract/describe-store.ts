import { afterEach, beforeEach, describe } from 'node:test';
import { describeAbandonedReplies } from './abandoned-replies.ts';
import { describeAccounts } from './accounts.ts';
import { describeAdmissions } from './admissions.ts';
import { describeApiKeys } from './api-keys.ts';
import { describeApplications } from './applications.ts';
import { describeAudits } from './audit.ts';
import { describeDocuments } from './documents.ts';
import { type OpenStore, World } from './fixture.ts';
import { describeFollowUps } from './follow-ups.ts';
import { describeForeignOrganizations } from './foreign-organizations.ts';
import { describeKeyRequests } from './key-requests.ts';
import { describeMembers } from './members.ts';
import { describeOrganizations } from './organizations.ts';
import { describePurges } from './purges.ts';
import { describeQuotas } from './quotas.ts';
import { describeReplies } from './replies.ts';
import { describeRetention } from './retention.ts';
import { describeSigningKeys } from './signing-keys.ts';
import { describeThreadVersions } from './thread-versions.ts';
import { describeThreads } from './threads.ts';
import { describeUsages } from './usage.ts';
import { describeWalks } from './walks.ts';
import { describeWriteGrants } from './write-grants.ts';

/** What every adapter promises. `fresh` returns a function that opens a new, empty store. */
export function describeStore(engine: string, fresh: () => OpenStore): void {
  describe(`The ${engine} store`, () => {
    const current: { world: World } = {} as { world: World };
    const world = () => current.world;
    beforeEach(async () => {
      current.world = await World.open(fresh());
    });
    afterEach(() => current.world.close());

    describeOrganizations(world);
    describeMembers(world);
    describeAccounts(world);
    describeApiKeys(world);
    describeKeyRequests(world);
    describeApplications(world);
    describeSigningKeys(world);
    describeQuotas(world);
    describeAdmissions(world);
    describeThreads(world);
    describeWriteGrants(world);
    describeWalks(world);
    describeReplies(world);
    describeAbandonedReplies(world);
    describeFollowUps(world);
    describeThreadVersions(world);
    describeDocuments(world);
    describeAudits(world);
    describeUsages(world);
    describeRetention(world);
    describePurges(world);
    describeForeignOrganizations(world);
  });
}
