import { iso, isoOrNull } from '../../domain/iso-time.ts';
import { invitationLink } from '../../domain/sign-in.ts';
import {
  type AddedMember,
  addMember,
  changeMemberRole,
  findMemberById,
  inviteMember,
  type ListedMember,
  listMembers,
  removeMember,
} from '../../usecases/people/members.ts';
import { nothing } from '../schema.ts';
import type { ConsoleOptions } from './options.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';
import {
  type InvitedJson,
  invitedSchema,
  type MemberJson,
  memberRoleBody,
  membersSchema,
  newMemberBody,
  settingPath,
} from './setting-schemas.ts';

export function memberRoutes({ baseUrl }: ConsoleOptions): readonly ConsoleRoute[] {
  const invited = ({ userId, invitation }: AddedMember): InvitedJson => ({
    id: userId,
    link: invitation && invitationLink(baseUrl(), invitation.token),
    expiresAt: invitation && iso(invitation.expiresAt),
  });

  const add = defineConsoleRoute({
    method: 'POST',
    url: '/members',
    caller: 'admin',
    body: newMemberBody,
    status: 201,
    response: invitedSchema,
    async handle({ context, principal, initiator, body }) {
      return invited(await addMember(context, principal.organizationId, initiator, body));
    },
  });

  const invite = defineConsoleRoute({
    method: 'POST',
    url: '/members/:id/invitation',
    caller: 'admin',
    path: settingPath,
    status: 201,
    response: invitedSchema,
    async handle({ context, principal: { organizationId }, initiator, path }) {
      const { userId } = await findMemberById(context, organizationId, path.id);
      const invitation = await inviteMember(context, organizationId, initiator, userId, { resets: false });
      return invited({ userId, invitation });
    },
  });

  return [list, add, invite, changeRole, remove];
}

const list = defineConsoleRoute({
  method: 'GET',
  url: '/members',
  caller: 'admin',
  response: membersSchema,
  async handle({ context, principal }) {
    const members = await listMembers(context, principal.organizationId);
    return { members: members.map(presentMember) };
  },
});

const changeRole = defineConsoleRoute({
  method: 'PATCH',
  url: '/members/:id',
  caller: 'admin',
  path: settingPath,
  body: memberRoleBody,
  response: nothing,
  async handle({ context, principal, initiator, path, body }) {
    await changeMemberRole(context, principal.organizationId, initiator, path.id, body.role);
    return {};
  },
});

const remove = defineConsoleRoute({
  method: 'DELETE',
  url: '/members/:id',
  caller: 'admin',
  path: settingPath,
  response: nothing,
  async handle({ context, principal: { organizationId }, initiator, path }) {
    const member = await findMemberById(context, organizationId, path.id);
    await removeMember(context, organizationId, initiator, member);
    return {};
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
