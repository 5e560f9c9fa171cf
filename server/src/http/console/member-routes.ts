import { Type } from 'typebox';
import { iso } from '../../domain/iso-time.ts';
import { invitationLink } from '../../domain/sign-in-token.ts';
import { inviteMember } from '../../usecases/people/invite-member.ts';
import {
  type AddedMember,
  addMember,
  changeMemberRole,
  findMemberById,
  type ListedMember,
  listMembers,
  removeMember,
} from '../../usecases/people/members.ts';
import type { InvitedJson, MemberJson, MembersJson } from './contract.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { isoOrNull, settingPath } from './setting-schemas.ts';

export interface MemberRouteOptions {
  readonly baseUrl: () => string;
}

const role = Type.Enum(['admin', 'member']);
const newMember = Type.Object({
  email: Type.String({ format: 'text', maxLength: 254 }),
  role,
  service: Type.Boolean(),
});

export function memberRoutes({ baseUrl }: MemberRouteOptions): readonly ConsoleRoute[] {
  const invited = ({ userId, invitation }: AddedMember): InvitedJson => ({
    id: userId,
    link: invitation && invitationLink(baseUrl(), invitation.token),
    expiresAt: invitation && iso(invitation.expiresAt),
  });

  const add = defineConsoleRoute({
    method: 'POST',
    url: '/members',
    caller: 'admin',
    body: newMember,
    async handle({ context, principal, initiator, body }) {
      return {
        status: 201,
        body: invited(await addMember(context, principal.organizationId, initiator, body)),
      };
    },
  });

  const invite = defineConsoleRoute({
    method: 'POST',
    url: '/members/:id/invitation',
    caller: 'admin',
    path: settingPath,
    async handle({ context, principal: { organizationId }, initiator, path }) {
      const { userId } = await findMemberById(context, organizationId, path.id);
      const invitation = await inviteMember(context, organizationId, initiator, userId, { resets: false });
      return { status: 201, body: invited({ userId, invitation }) };
    },
  });

  return [list, add, invite, changeRole, remove];
}

const list = defineConsoleRoute({
  method: 'GET',
  url: '/members',
  caller: 'admin',
  async handle({ context, principal }) {
    const members = await listMembers(context, principal.organizationId);
    return { body: { members: members.map(presentMember) } satisfies MembersJson };
  },
});

const changeRole = defineConsoleRoute({
  method: 'PATCH',
  url: '/members/:id',
  caller: 'admin',
  path: settingPath,
  body: Type.Object({ role }),
  async handle({ context, principal, initiator, path, body }) {
    await changeMemberRole(context, principal.organizationId, initiator, path.id, body.role);
    return { body: {} };
  },
});

const remove = defineConsoleRoute({
  method: 'DELETE',
  url: '/members/:id',
  caller: 'admin',
  path: settingPath,
  async handle({ context, principal: { organizationId }, initiator, path }) {
    const member = await findMemberById(context, organizationId, path.id);
    await removeMember(context, organizationId, initiator, member);
    return { body: {} };
  },
});

function presentMember(member: ListedMember): MemberJson {
  return {
    id: member.userId,
    email: member.email,
    role: member.role,
    service: member.service,
    joinedAt: iso(member.joinedAt),
    state: member.state,
    invitedUntil: isoOrNull(member.invitedUntil),
    keys: member.keys.map(({ id, name, hint }) => ({ id, name, hint })),
  };
}
