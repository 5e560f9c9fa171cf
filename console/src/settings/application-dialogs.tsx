import { Button, Code, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ClientSecretJson } from '../api/contract.ts';
import { CopyButton } from '../app/copy-button.tsx';
import { Failure } from '../app/failure.tsx';
import { SecretShownOnce } from '../app/secret-shown-once.tsx';
import { useLimits } from '../app/session.tsx';
import { FormActions } from './form-actions.tsx';
import { useChange } from './use-change.ts';

interface NewApplicationProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onMade: (secret: ClientSecretJson) => void;
}

export function NewApplicationDialog({ opened, onClose, onMade }: NewApplicationProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Create an application"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {opened && <NewApplicationForm onClose={onClose} onMade={onMade} />}
    </Modal>
  );
}

function NewApplicationForm({ onClose, onMade }: Omit<NewApplicationProps, 'opened'>) {
  const change = useChange<ClientSecretJson>();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name' : null) },
  });
  const { nameLengthMax } = useLimits();
  const create = form.onSubmit(({ name }) => {
    const made = (secret: ClientSecretJson) => {
      onClose();
      onMade(secret);
    };
    change.mutate(
      { method: 'POST', path: '/applications', body: { name: name.trim() } },
      { onSuccess: made },
    );
  });
  return (
    <form onSubmit={create} noValidate>
      <Stack>
        <TextInput
          label="Name"
          description="The program that uses this application."
          maxLength={nameLengthMax}
          data-autofocus
          {...form.getInputProps('name')}
        />
        {change.isError && <Failure error={change.error} title="Application not created" />}
        <FormActions submitLabel="Create application" loading={change.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}

interface ClientSecretProps {
  readonly secret: ClientSecretJson | null;
  readonly tokenUrl: string;
  readonly onClose: () => void;
}

export function ClientSecretDialog({ secret, tokenUrl, onClose }: ClientSecretProps) {
  return (
    <Modal
      opened={secret !== null}
      onClose={onClose}
      title="Client credentials"
      size="lg"
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {secret !== null && <ClientCredentials secret={secret} tokenUrl={tokenUrl} onClose={onClose} />}
    </Modal>
  );
}

function ClientCredentials({
  secret: { id, clientSecret },
  tokenUrl,
  onClose,
}: ClientSecretProps & { secret: ClientSecretJson }) {
  const curl = `curl -s ${tokenUrl} -d grant_type=client_credentials -d client_id=${id} -d client_secret=${clientSecret}`;
  return (
    <Stack>
      <div>
        <Text size="sm" fw={600} mb={4}>
          Client ID
        </Text>
        <Group gap={4}>
          <Code>{id}</Code>
          <CopyButton compact value={id} label="Copy client ID" />
        </Group>
      </div>
      <SecretShownOnce label="Client secret" value={clientSecret} />
      <div>
        <Group justify="space-between" mb={4}>
          <Text size="sm" fw={600}>
            Get a token
          </Text>
          <CopyButton value={curl} label="Copy command" />
        </Group>
        <Code block tabIndex={0} role="region" aria-label="Command to get a token">
          {curl}
        </Code>
      </div>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
