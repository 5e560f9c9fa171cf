import { Alert, Button, Group, Radio, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { membersOptions } from '../api/queries.ts';
import { SecretShownOnce, ShellCommand } from '../app/secret-shown-once.tsx';
import { useLimits, useOrganization, useSession } from '../app/session.tsx';
import { FormActions } from './form-actions.tsx';
import { nameProblem } from './name-form.tsx';
import { useChange } from './use-change.ts';

/** Creates a key, then shows it once. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const { user } = useSession();
  const owners = useOwners();
  const change = useChange<Json<'newKey'>>();
  const form = useForm({
    initialValues: { name: '', scope: 'personal', ownerId: user.id },
    validate: { name: nameProblem },
  });
  const { nameLengthMax } = useLimits();
  const create = form.onSubmit(({ name, scope, ownerId }) => {
    const body = { name: name.trim(), scope, ...(scope === 'personal' && { ownerId }) };
    change.mutate({ method: 'POST', path: '/keys', body });
  });
  return (
    <KeyForm verb="Create" change={change} onSubmit={create} onClose={onClose}>
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
            description="Acts as its owner: creates threads, reads the owner’s threads and all published ones, and renames or deletes the owner’s threads."
          />
          <Radio
            value="org-wide"
            label="Org-wide"
            description="Acts for the organization: reads all published threads but can’t change anything. It stays valid if its creator leaves."
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
    </KeyForm>
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

type GracePeriod = Json<'rotateKeyBody'>['oldValidFor'];

const gracePeriods: readonly { value: GracePeriod; label: string }[] = [
  { value: 'now', label: 'Now' },
  { value: '1h', label: 'In 1 hour' },
  { value: '24h', label: 'In 24 hours' },
  { value: '7d', label: 'In 7 days' },
];

/** Replaces a key, then shows the new one once. */
export function RotateKey({ rotated, onClose }: { rotated: Json<'key'>; onClose: () => void }) {
  const [oldValidFor, setOldValidFor] = useState<GracePeriod>('24h');
  const change = useChange<Json<'newKey'>>();
  const rotate = () => {
    const body: Json<'rotateKeyBody'> = { oldValidFor };
    change.mutate({ method: 'POST', path: `/keys/${rotated.id}/rotate`, body });
  };
  return (
    <KeyForm verb="Rotate" change={change} onSubmit={rotate} onClose={onClose}>
      <Text size="sm">
        Rotating creates a new key with the same name and owner. You’ll see it once, in the next step.
      </Text>
      <Select
        label="Revoke the old key"
        description="Both keys work until then."
        data={gracePeriods}
        allowDeselect={false}
        value={oldValidFor}
        onChange={(value) => setOldValidFor(value as GracePeriod)}
      />
    </KeyForm>
  );
}

/** Shows a key that was approved, once. */
export function RevealKey({ id, onClose }: { id: string; onClose: () => void }) {
  const change = useChange<Json<'newKey'>>();
  const reveal = () => change.mutate({ method: 'POST', path: `/key-requests/${id}/reveal` });
  return (
    <KeyForm verb="Reveal" change={change} onSubmit={reveal} onClose={onClose}>
      <Text size="sm">You’ll see the key once, in the next step. Have a safe place ready to store it.</Text>
    </KeyForm>
  );
}

interface KeyFormProps {
  /** What its button does with the key. */
  readonly verb: 'Create' | 'Rotate' | 'Reveal';
  /** The request that it sends. */
  readonly change: ReturnType<typeof useChange<Json<'newKey'>>>;
  readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

function KeyForm({ verb, change, onSubmit, onClose, children }: KeyFormProps) {
  if (change.data !== undefined) return <CreatedKey created={change.data} onClose={onClose} />;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(event);
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {children}
        <FormActions
          submitLabel={`${verb} key`}
          change={change}
          failure={`Couldn’t ${verb.toLowerCase()} the key`}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}

/** A new key, which is shown only now, and a command to try it. */
function CreatedKey({ created, onClose }: { created: Json<'newKey'>; onClose: () => void }) {
  return (
    <Stack>
      <SecretShownOnce label="API key" value={created.key} />
      <ShellCommand title="Try it" label="Command that uses the key" command={created.curl} />
      <Alert variant="light" p="xs">
        Store the key with your program’s secrets, never in its source code.
      </Alert>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
