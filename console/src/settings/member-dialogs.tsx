import { Button, Code, Group, List, Radio, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Json } from '../api/contract.ts';
import { Confirm } from '../app/confirm.tsx';
import { Dialog } from '../app/dialog.tsx';
import { formatDateTime } from '../app/format-time.ts';
import { SecretShownOnce } from '../app/secret-shown-once.tsx';
import { useOrganization, useSession } from '../app/session.tsx';
import { FormActions } from './form-actions.tsx';
import { useChange } from './use-change.ts';

export interface Invited extends Pick<Json<'invited'>, 'link' | 'mailed' | 'expiresAt'> {
  readonly email: string;
}

interface InviteFormProps {
  /** Whether invitations are sent by email. */
  readonly sendsMail: boolean;
  readonly onClose: () => void;
  readonly onInvited: (invited: Invited) => void;
}

export function InviteForm({ sendsMail, onClose, onInvited }: InviteFormProps) {
  const change = useChange<Json<'invited'>>();
  const form = useForm({
    initialValues: { email: '', role: 'member', service: false },
    validate: { email: (email) => (/^\S+@\S+$/.test(email.trim()) ? null : 'Enter an email address') },
  });
  const invite = form.onSubmit(({ email, role, service }) => {
    const added = ({ link, mailed, expiresAt }: Json<'invited'>) => {
      onClose();
      if (!service) onInvited({ email: email.trim(), link, mailed, expiresAt });
    };
    const body = { email: email.trim(), role, service };
    change.mutate({ method: 'POST', path: '/members', body }, { onSuccess: added });
  });
  return (
    <form onSubmit={invite} noValidate>
      <Stack>
        <TextInput label="Email address" type="email" data-autofocus {...form.getInputProps('email')} />
        <Radio.Group label="Role" {...form.getInputProps('role')}>
          <Stack gap="xs" mt="xs">
            <Radio
              value="member"
              label="Member"
              description="Can ask questions, read threads and publish their own."
            />
            <Radio value="admin" label="Admin" description="Can also view and change all settings." />
          </Stack>
        </Radio.Group>
        <Switch
          label="Service account"
          description="For automation. Owns keys and threads but can’t sign in."
          {...form.getInputProps('service', { type: 'checkbox' })}
        />
        <FormActions
          submitLabel={
            form.values.service
              ? 'Add account'
              : sendsMail
                ? 'Add and send invitation'
                : 'Add and create link'
          }
          change={change}
          failure="Couldn’t add the member"
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}

export function InvitationDialog({ invited, onClose }: { invited: Invited | null; onClose: () => void }) {
  return (
    <Dialog
      opened={invited !== null}
      onClose={onClose}
      title={`Invitation for ${invited?.email ?? ''}`}
      secret
      closeOnClickOutside={invited?.mailed === true}
    >
      {invited !== null && (
        <Stack>
          <Text size="sm">
            {adviceFor(invited)}
            {invited.expiresAt !== null && (
              <> The link works once, until {formatDateTime(new Date(invited.expiresAt))}.</>
            )}
          </Text>
          {invited.link !== null && (
            <SecretShownOnce
              label="Invitation link"
              value={invited.link}
              warning="Copy it now. You won’t see it again. You can create a new link at any time, which replaces this one."
            />
          )}
          <Group justify="flex-end">
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}

function adviceFor({ email, link, mailed }: Invited): string {
  if (mailed) return 'They’ll get a link by email.';
  if (link !== null) return `Send this link only to ${email}. Anyone who has it can join in their place.`;
  return `${email} has threads here from an earlier membership. With a link, you could read them, so none was created. Ask ${email} to join through single sign-on.`;
}

export function RemoveMemberDialog({
  member,
  onClose,
}: {
  member: Json<'member'> | null;
  onClose: () => void;
}) {
  const { name } = useOrganization();
  const { user } = useSession();
  const change = useChange();
  const isSelf = member?.id === user.id;
  return (
    <Confirm
      opened={member !== null}
      onClose={onClose}
      title={isSelf ? `Leave ${name}?` : `Remove ${member?.email} from ${name}?`}
      confirmLabel={isSelf ? 'Leave' : 'Remove'}
      destructive
      onConfirm={async () => {
        await change.mutateAsync({ method: 'DELETE', path: `/members/${member?.id}` });
        // The session can no longer enter the organization.
        if (isSelf) location.assign('/');
      }}
    >
      <Stack gap="sm">
        <Text size="sm">
          {isSelf ? 'You lose' : 'They lose'} access immediately. Published threads stay. Revoked keys aren’t
          restored if {isSelf ? 'you' : 'they'} rejoin.
        </Text>
        {member !== null && <RevokedKeys keys={member.keys} />}
      </Stack>
    </Confirm>
  );
}

function RevokedKeys({ keys }: Pick<Json<'member'>, 'keys'>) {
  if (keys.length === 0) return <Text size="sm">No personal keys will be revoked.</Text>;
  return (
    <div>
      <Text size="sm" fw={600}>
        {keys.length === 1
          ? 'This personal key will be revoked:'
          : `These ${keys.length} personal keys will be revoked:`}
      </Text>
      <List size="sm">
        {keys.map(({ id, name, hint }) => (
          <List.Item key={id}>
            {name} <Code>{hint}</Code>
          </List.Item>
        ))}
      </List>
    </div>
  );
}
