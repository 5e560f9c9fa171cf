import { Alert, Button, Code, Group, Modal, Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NewKeyJson } from '../api/contract.ts';
import { membersOptions } from '../api/queries.ts';
import { CopyButton } from '../app/copy-button.tsx';
import { Failure } from '../app/failure.tsx';
import { SecretShownOnce } from '../app/secret-shown-once.tsx';
import { useLimits, useOrganization, useSession } from '../app/session.tsx';
import { FormActions } from './form-actions.tsx';
import { useChange } from './use-change.ts';

interface DialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Its contents are new each time it opens: a key that was shown is gone with the dialog. */
export function NewKeyDialog({ opened, onClose }: DialogProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Create an API key"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
      // A click outside must not lose a key that is shown only once.
      closeOnClickOutside={false}
    >
      {opened && <NewKey onClose={onClose} />}
    </Modal>
  );
}

function NewKey({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<NewKeyJson | null>(null);
  return made === null ? (
    <NewKeyForm onMade={setMade} onClose={onClose} />
  ) : (
    <MadeKey made={made} onClose={onClose} />
  );
}

function NewKeyForm({ onMade, onClose }: { onMade: (made: NewKeyJson) => void; onClose: () => void }) {
  const { user } = useSession();
  const owners = useOwners();
  const change = useChange<NewKeyJson>();
  const form = useForm({
    initialValues: { name: '', scope: 'personal', ownerId: user.id },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name' : null),
    },
  });
  const { nameLengthMax } = useLimits();
  const create = form.onSubmit(async ({ name, scope, ownerId }) => {
    const body = { name: name.trim(), scope, ...(scope === 'personal' && { ownerId }) };
    change.mutate({ method: 'POST', path: '/keys', body }, { onSuccess: onMade });
  });
  return (
    <form onSubmit={create} noValidate>
      <Stack>
        <TextInput
          label="Name"
          description="Visible to you and other admins. API callers never see it."
          maxLength={nameLengthMax}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Radio.Group
          label="Scope"
          description="You can’t change the scope later."
          {...form.getInputProps('scope')}
        >
          <Stack gap="sm" mt="xs">
            <Radio
              value="personal"
              label="Personal"
              description="Acts for its owner: creates threads, reads the owner's own and all published ones, and renames or deletes the owner's."
            />
            <Radio
              value="org-wide"
              label="Org-wide"
              description="Acts for the organization. Reads all published threads and can’t change anything. It stays valid when its creator leaves."
            />
          </Stack>
        </Radio.Group>
        {form.values.scope === 'personal' && (
          <Select
            label="Owner"
            description="You or a service account. Members request their own keys."
            data={owners}
            allowDeselect={false}
            {...form.getInputProps('ownerId')}
          />
        )}
        {change.isError && <Failure error={change.error} title="Key not created" />}
        <FormActions submitLabel="Create key" loading={change.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}

function useOwners(): { value: string; label: string }[] {
  const { id } = useOrganization();
  const { user } = useSession();
  const { data } = useQuery(membersOptions(id));
  const services = (data?.members ?? []).filter(({ service }) => service);
  return [
    { value: user.id, label: `${user.email} (you)` },
    ...services.map((member) => ({ value: member.id, label: `${member.email} (service account)` })),
  ];
}

/** A key that is shown this once, and how to try it. */
export function MadeKey({ made, onClose }: { made: NewKeyJson; onClose: () => void }) {
  return (
    <Stack>
      <SecretShownOnce label="API key" value={made.key} />
      <div>
        <Group justify="space-between" mb={4}>
          <Text size="sm" fw={600}>
            Try it
          </Text>
          <CopyButton value={made.curl} label="Copy command" />
        </Group>
        <Code block tabIndex={0} role="region" aria-label="Command that uses the key">
          {made.curl}
        </Code>
      </div>
      <Alert variant="light" p="xs">
        Store the key with your program’s secrets, never in its source code.
      </Alert>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
