import { Button, Group, Select, Text } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { membersOptions } from '../api/queries.ts';
import { announce } from '../app/announcer.tsx';
import { Dialog } from '../app/dialog.tsx';
import { Failure } from '../app/failure.tsx';
import { formatDateTime } from '../app/format-time.ts';
import { Page } from '../app/page.tsx';
import { useOrganization, useSession } from '../app/session.tsx';
import classes from './data-table.module.css';
import { type Column, DataTable } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { InvitationDialog, type Invited, InviteForm, RemoveMemberDialog } from './member-dialogs.tsx';
import { useRowFilter } from './row-filter.tsx';
import { Email, RowButton, StateBadge, When } from './table-cells.tsx';
import { useChange } from './use-change.ts';

export function MembersPage() {
  const { id, name } = useOrganization();
  const { user } = useSession();
  const list = useQuery(membersOptions(id));
  const filter = useRowFilter(list.data?.members, {
    noun: 'member',
    placeholder: 'Filter by email, role or state',
    textOf: (member) => `${member.email} ${member.role} ${describeState(member)}`,
  });
  const sendsMail = list.data?.sendsMail === true;
  const [inviting, setInviting] = useState(false);
  const [invited, setInvited] = useState<Invited | null>(null);
  const [leaving, setLeaving] = useState<Json<'member'> | null>(null);
  const renewal = useChange<Json<'invited'>>();
  const roleChange = useChange();

  const closeInviting = () => setInviting(false);
  const isRenewing = useRef(false);
  const renew = ({ id: userId, email }: Json<'member'>) => {
    // Two clicks can come before the buttons are disabled, but only the last result of a mutation is reported.
    if (isRenewing.current) return;
    isRenewing.current = true;
    renewal.mutate(
      { method: 'POST', path: renewalPath(userId) },
      {
        onSuccess: (invited) => setInvited({ email, ...invited }),
        onSettled: () => {
          isRenewing.current = false;
        },
      },
    );
  };
  const setRole = ({ id: userId, email }: Json<'member'>, role: string) =>
    roleChange.mutate(
      { method: 'PATCH', path: `/members/${userId}`, body: { role } },
      { onSuccess: () => announce(`${email} is now ${role === 'admin' ? 'an admin' : 'a member'}`) },
    );

  return (
    <Page
      title="Members"
      width="wide"
      description="People in the organization. Admins manage settings. Members ask questions and read threads."
      actions={
        <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
          Add member
        </Button>
      }
    >
      {roleChange.isError && <Failure error={roleChange.error} title="Couldn’t change the role" />}
      {renewal.isError && (
        <Failure
          error={renewal.error}
          title={sendsMail ? 'Couldn’t send the invitation' : 'Couldn’t create a link'}
        />
      )}
      {filter.field}
      <DataTable
        caption="Members"
        query={list}
        failure="Couldn’t load members"
        rows={filter.rows}
        columns={columns({
          sendsMail,
          selfId: user.id,
          organization: name,
          setRole,
          renew,
          renewing: renewal.isPending ? renewal.variables.path : undefined,
          remove: setLeaving,
        })}
        empty={filter.noMatch || <EmptyState title="No members yet">Add people by email address.</EmptyState>}
      />
      <Dialog opened={inviting} onClose={closeInviting} title="Add a member" secret>
        {inviting && <InviteForm sendsMail={sendsMail} onClose={closeInviting} onInvited={setInvited} />}
      </Dialog>
      <InvitationDialog invited={invited} onClose={() => setInvited(null)} />
      <RemoveMemberDialog key={leaving?.id} member={leaving} onClose={() => setLeaving(null)} />
    </Page>
  );
}

function renewalPath(userId: string): string {
  return `/members/${userId}/invitation`;
}

interface Actions {
  readonly sendsMail: boolean;
  readonly selfId: string;
  readonly organization: string;
  readonly setRole: (member: Json<'member'>, role: string) => void;
  readonly renew: (member: Json<'member'>) => void;
  /** The path of the running renewal. */
  readonly renewing: string | undefined;
  readonly remove: (member: Json<'member'>) => void;
}

function columns({
  sendsMail,
  selfId,
  organization,
  setRole,
  renew,
  renewing,
  remove,
}: Actions): Column<Json<'member'>>[] {
  return [
    { heading: 'Email', cell: (member) => <Address {...member} /> },
    {
      heading: 'Role',
      cell: (member) => (
        <Select
          aria-label={`Role of ${member.email}`}
          data={[
            { value: 'admin', label: 'Admin' },
            { value: 'member', label: 'Member' },
          ]}
          value={member.role}
          allowDeselect={false}
          w={120}
          size="xs"
          onChange={(role) => role !== null && role !== member.role && setRole(member, role)}
        />
      ),
    },
    { heading: 'State', cell: (member) => <MemberState {...member} /> },
    { heading: 'Added', secondary: true, cell: ({ joinedAt }) => <When iso={joinedAt} /> },
    { heading: 'Active keys', cell: ({ keys }) => keys.length },
    {
      heading: 'Actions',
      headingHidden: true,
      cell: (member) => (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          {member.state !== 'active' && (
            <RowButton
              onClick={() => renew(member)}
              loading={renewing === renewalPath(member.id)}
              disabled={renewing !== undefined && renewing !== renewalPath(member.id)}
              aria-label={`${sendsMail ? 'Resend to' : 'New link for'} ${member.email}`}
              title={
                sendsMail
                  ? 'Send a new link and replace the old one'
                  : 'Create a new link and replace the old one'
              }
            >
              {sendsMail ? 'Resend' : 'New link'}
            </RowButton>
          )}
          <RowButton
            onClick={() => remove(member)}
            aria-label={member.id === selfId ? `Leave ${organization}` : `Remove ${member.email}`}
          >
            {member.id === selfId ? 'Leave' : 'Remove'}
          </RowButton>
        </Group>
      ),
    },
  ];
}

function Address({ id, email }: Json<'member'>) {
  const { user } = useSession();
  return (
    <Text span size="sm" fw={500} className={classes.breaksAnywhere}>
      <Email address={email} />
      {id === user.id && (
        <Text span size="sm" c="dimmed" fw={400}>
          {' '}
          (you)
        </Text>
      )}
    </Text>
  );
}

type ShownState = 'Service account' | 'Active' | 'Not delivered' | 'Invited' | 'Not joined';

function describeState({ service, state, mailState }: Json<'member'>): ShownState {
  if (service) return 'Service account';
  if (state === 'active') return 'Active';
  if (state === 'expired') return 'Not joined';
  return mailState === 'failed' ? 'Not delivered' : 'Invited';
}

const stateColors: Readonly<Record<ShownState, string>> = {
  'Service account': 'gray',
  Active: 'teal',
  'Not delivered': 'red',
  Invited: 'indigo',
  'Not joined': 'orange',
};

function MemberState(member: Json<'member'>) {
  const state = describeState(member);
  return (
    <StateBadge color={stateColors[state]} title={formatDetail(state, member.invitedUntil)}>
      {state}
    </StateBadge>
  );
}

/** Active members may also have a link, to choose a new password. */
function formatDetail(state: ShownState, invitedUntil: string | null): string | undefined {
  if (state === 'Not delivered')
    return 'The invitation couldn’t be delivered. Check the address, or resend it.';
  if (state === 'Not joined') return 'They have no valid link: it has expired, or none was created.';
  return state === 'Invited' && invitedUntil !== null
    ? `Link valid until ${formatDateTime(new Date(invitedUntil))}`
    : undefined;
}
