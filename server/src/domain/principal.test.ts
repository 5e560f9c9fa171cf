import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId, UserId } from './id.ts';
import { changeRefused, type Principal } from './principal.ts';
import type { Thread } from './thread.ts';

const organizationId = 'org_1' as OrganizationId;
const ada = 'usr_ada' as UserId;
const ben = 'usr_ben' as UserId;
const as = (userId: UserId): Principal => ({ organizationId, userId });
const thread = { organizationId, userId: ada, published: true, deletedAt: null } as Thread;
const codeFor = (userId: UserId, found: Thread | undefined) =>
  changeRefused(as(userId), found, 'rename it').code;

describe('A change of a thread that the store refused', () => {
  it('is forbidden to those who can read the thread', () => {
    assert.equal(codeFor(ben, thread), 'FORBIDDEN');
  });

  it('says that the thread is not found to everyone else', () => {
    for (const found of [undefined, { ...thread, published: false }, { ...thread, deletedAt: 1 }])
      assert.equal(codeFor(ben, found), 'NOT_FOUND');
  });

  it('is never forbidden to its creator, whose thread may have been restored since', () => {
    assert.equal(codeFor(ada, thread), 'NOT_FOUND');
  });
});
