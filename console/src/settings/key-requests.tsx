import { Badge, Button, Group, Modal, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { KeyRequestJson, NewKeyJson } from '../api/contract.ts';
import { announce } from '../app/announcer.tsx';
import { Failure } from '../app/failure.tsx';
import { useLimits, useOrganization } from '../app/session.tsx';
import { Email } from './email.tsx';
import { FormActions } from './form-actions.tsx';
import { MadeKey } from './new-key-dialog.tsx';
import { useChange } from './use-change.ts';
import { When } from './when.tsx';

/** Keys that members have requested. Admins decide; only the requester sees the key. */
export function KeyRequests({ requests }: { requests: readonly KeyRequestJson[] }) {
  const [revealed, setRevealed] = useState<NewKeyJson | null>(null);
  return (
    <>
      {requests.length > 0 && (
        <Paper withBorder p="md" mb="lg" component="section" aria-labelledby="key-requests">
          <Title order={2} size="h4" mb="sm" id="key-requests">
            Requests
          </Title>
          <Stack gap="md">
            {requests.map((request) => (
              <Request key={request.id} request={request} onRevealed={setRevealed} />
            ))}
          </Stack>
        </Paper>
      )}
      <Modal
        opened={revealed !== null}
        onClose={() => setRevealed(null)}
        title="Your API key"
        size="lg"
        closeButtonProps={{ 'aria-label': 'Close' }}
        closeOnClickOutside={false}
      >
        {revealed !== null && <MadeKey made={revealed} onClose={() => setRevealed(null)} />}
      </Modal>
    </>
  );
}

interface RequestProps {
  readonly request: KeyRequestJson;
  readonly onRevealed: (made: NewKeyJson) => void;
}

function Request({ request, onRevealed }: RequestProps) {
  const { id, name, owner, mine, state, requestedAt } = request;
  const isAdmin = useOrganization().role === 'admin';
  const change = useChange<NewKeyJson>();
  const send = (action: 'approve' | 'decline' | 'reveal') =>
    change.mutate(
      { method: 'POST', path: `/key-requests/${id}/${action}` },
      {
        onSuccess: (made) => {
          if (action === 'reveal') onRevealed(made);
          else announce(action === 'approve' ? `Approved ${name}` : `Declined ${name}`);
        },
      },
    );
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="sm">
        <div>
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          <Text size="sm" c="dimmed" component="div">
            {mine ? 'Requested by you' : <>Requested by {<Email address={owner} />}</>} ·{' '}
            <When iso={requestedAt} />
          </Text>
        </div>
        <Group gap="xs">
          <RequestState {...request} />
          {isAdmin && state === 'pending' && (
            <>
              <Button size="xs" onClick={() => send('approve')} aria-label={`Approve ${name}`}>
                Approve
              </Button>
              <Button
                size="xs"
                variant="default"
                onClick={() => send('decline')}
                aria-label={`Decline ${name}`}
              >
                Decline
              </Button>
            </>
          )}
          {mine && state === 'approved' && (
            <Button
              size="xs"
              loading={change.isPending}
              onClick={() => send('reveal')}
              aria-label={`Reveal ${name}`}
            >
              Reveal key
            </Button>
          )}
        </Group>
      </Group>
      {change.isError && <Failure error={change.error} title="Request not updated" />}
    </Stack>
  );
}

function RequestState({ state, mine }: KeyRequestJson) {
  const [color, text] = {
    pending: ['yellow', 'Waiting for an admin'],
    approved: ['teal', mine ? 'Approved' : 'Approved, not revealed yet'],
    declined: ['gray', 'Declined'],
  }[state] as [string, string];
  return (
    <Badge tt="none" miw="max-content" color={color} variant="light">
      {text}
    </Badge>
  );
}

export function RequestKeyDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Request an API key"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {opened && <RequestForm onClose={onClose} />}
    </Modal>
  );
}

function RequestForm({ onClose }: { onClose: () => void }) {
  const change = useChange();
  const { nameLengthMax } = useLimits();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name' : null) },
  });
  const submit = form.onSubmit(({ name }) =>
    change.mutate(
      { method: 'POST', path: '/key-requests', body: { name: name.trim() } },
      {
        onSuccess: () => {
          announce('Key requested');
          onClose();
        },
      },
    ),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">
          An admin reviews the request. Once approved, you reveal the key here and only you see it. The key
          acts as you: it creates threads in your name and reads your threads and all published ones.
        </Text>
        <TextInput
          label="Name"
          description="What the key is for. Admins can see this."
          maxLength={nameLengthMax}
          data-autofocus
          {...form.getInputProps('name')}
        />
        {change.isError && <Failure error={change.error} title="Key not requested" />}
        <FormActions submitLabel="Request key" loading={change.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}
