import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { Json } from '../api/contract.ts';
import { announce } from '../app/announcer.tsx';
import { Dialog } from '../app/dialog.tsx';
import { Failure } from '../app/failure.tsx';
import { useOrganization } from '../app/session.tsx';
import { RevealKey } from './key-forms.tsx';
import { Email, RowButton, StateBadge, When } from './table-cells.tsx';
import { useChange } from './use-change.ts';

/** Keys that members have requested. Admins decide; only the requester sees the key. */
export function KeyRequests({ requests }: { requests: readonly Json<'keyRequest'>[] }) {
  const [revealed, setRevealed] = useState<Json<'keyRequest'> | null>(null);
  const close = () => setRevealed(null);
  return (
    <>
      {requests.length > 0 && (
        <Paper withBorder p="md" mb="lg" component="section" aria-labelledby="key-requests">
          <Title order={2} size="h4" mb="sm" id="key-requests">
            Requests
          </Title>
          <Stack gap="md">
            {requests.map((request) => (
              <Request key={request.id} request={request} onReveal={() => setRevealed(request)} />
            ))}
          </Stack>
        </Paper>
      )}
      <Dialog opened={revealed !== null} onClose={close} title={`Reveal ${revealed?.name}`} secret>
        {revealed !== null && <RevealKey id={revealed.id} onClose={close} />}
      </Dialog>
    </>
  );
}

interface RequestProps {
  readonly request: Json<'keyRequest'>;
  readonly onReveal: () => void;
}

function Request({ request, onReveal }: RequestProps) {
  const { id, name, owner, mine, state, requestedAt } = request;
  const isAdmin = useOrganization().role === 'admin';
  const change = useChange();
  const buildPath = (action: 'approve' | 'decline') => `/key-requests/${id}/${action}`;
  const sent = change.isPending ? change.variables.path : undefined;
  const send = (action: 'approve' | 'decline') =>
    change.mutate(
      { method: 'POST', path: buildPath(action) },
      { onSuccess: () => announce(action === 'approve' ? `Approved ${name}` : `Declined ${name}`) },
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
              <Button
                size="xs"
                loading={sent === buildPath('approve')}
                disabled={sent === buildPath('decline')}
                onClick={() => send('approve')}
                aria-label={`Approve ${name}`}
              >
                Approve
              </Button>
              <RowButton
                loading={sent === buildPath('decline')}
                disabled={sent === buildPath('approve')}
                onClick={() => send('decline')}
                aria-label={`Decline ${name}`}
              >
                Decline
              </RowButton>
            </>
          )}
          {mine && state === 'approved' && (
            <Button size="xs" onClick={onReveal} aria-label={`Reveal ${name}`}>
              Reveal
            </Button>
          )}
        </Group>
      </Group>
      {change.isError && <Failure error={change.error} title="Couldn’t update the request" />}
    </Stack>
  );
}

function RequestState({ state, mine }: Json<'keyRequest'>) {
  const [color, text] = {
    pending: ['yellow', 'Waiting for an admin'],
    approved: ['teal', mine ? 'Approved' : 'Approved, not revealed yet'],
    declined: ['gray', 'Declined'],
  }[state] as [string, string];
  return <StateBadge color={color}>{text}</StateBadge>;
}
