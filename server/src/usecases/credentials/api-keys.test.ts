import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Authority } from '../../domain/authority.ts';
import type { UserId } from '../../domain/id.ts';
import type { MemberRole } from '../../domain/organization.ts';
import type { EnteredSession } from '../people/sessions.ts';
import { assertMayOwnKey, findKeyOwners } from './api-keys.ts';

const ada = 'usr_ada' as UserId;
const bot = 'usr_bot' as UserId;
const grace = 'usr_grace' as UserId;
const by = (authority: Authority) => ({ authority, traceId: 'trace' });
const byAda = by({ kind: 'session', userId: ada, sessionHash: '', organizationId: null, role: 'member' });

describe('assertMayOwnKey', () => {
  it('lets a person create a key for themselves', () => {
    assertMayOwnKey(byAda, { userId: ada, service: false });
  });

  it('lets a person create a key for a service account', () => {
    assertMayOwnKey(byAda, { userId: bot, service: true });
  });

  it('rejects a key for another person', () => {
    assert.throws(() => assertMayOwnKey(byAda, { userId: grace, service: false }), { code: 'FORBIDDEN' });
  });

  it('lets the operator create one for anyone', () => {
    assertMayOwnKey(by({ kind: 'operator' }), { userId: grace, service: false });
  });
});

describe('findKeyOwners', () => {
  it('shows an admin all keys, and a member their own', () => {
    const entered = (role: MemberRole, userId: UserId) =>
      ({ membership: { role }, principal: { userId } }) as EnteredSession;
    assert.equal(findKeyOwners(entered('admin', ada)), 'all');
    assert.equal(findKeyOwners(entered('member', grace)), grace);
  });
});
