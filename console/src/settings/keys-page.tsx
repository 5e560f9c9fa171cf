import { Badge, Button, Code, Group, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { KeyJson } from '../api/contract.ts';
import { keysOptions } from '../api/queries.ts';
import { Confirm } from '../app/confirm.tsx';
import { Failure } from '../app/failure.tsx';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { momentOf } from '../app/time-words.ts';
import { type Column, DataTable } from './data-table.tsx';
import { Email } from './email.tsx';
import { EmptyState } from './empty-state.tsx';
import { KeyRequests, RequestKeyDialog } from './key-requests.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';
import { OutsideBeta } from './outside-beta.tsx';
import { RotateKeyDialog } from './rotate-key-dialog.tsx';
import { useChange } from './use-change.ts';
import { When } from './when.tsx';

export function KeysPage() {
  const { id, role, apiEnabled } = useOrganization();
  const { data, error, refetch } = useQuery({ ...keysOptions(id), enabled: apiEnabled });
  const [making, setMaking] = useState(false);
  const [doomed, setDoomed] = useState<KeyJson | null>(null);
  const [rotated, setRotated] = useState<KeyJson | null>(null);
  if (!apiEnabled) return <OutsideBeta title="API keys" />;

  const isAdmin = role === 'admin';
  return (
    <Page
      title="API keys"
      width="wide"
      description={
        isAdmin
          ? 'All API keys of the organization. A key is shown in full only once, when you create it.'
          : 'Your personal keys. Request one from an admin. Only you will see it.'
      }
      actions={
        <Button leftSection={<IconKey size={16} aria-hidden />} onClick={() => setMaking(true)}>
          {isAdmin ? 'Create key' : 'Request key'}
        </Button>
      }
    >
      {error !== null && <Failure error={error} title="Couldn’t load API keys" onRetry={() => refetch()} />}
      {data && <KeyRequests requests={data.requests} />}
      {error === null && (
        <DataTable
          caption="API keys"
          rows={data?.keys}
          columns={columns(setDoomed, setRotated)}
          empty={
            <EmptyState title="No keys yet">
              {isAdmin
                ? 'Programs need a key to create and read threads. Create one for yourself, for a service account, or for the whole organization.'
                : 'You don’t have any keys. Request one from an admin.'}
            </EmptyState>
          }
        />
      )}
      {isAdmin ? (
        <NewKeyDialog opened={making} onClose={() => setMaking(false)} />
      ) : (
        <RequestKeyDialog opened={making} onClose={() => setMaking(false)} />
      )}
      <RotateKeyDialog key={rotated?.id} rotated={rotated} onClose={() => setRotated(null)} />
      <RevokeDialog key={doomed?.id} doomed={doomed} onClose={() => setDoomed(null)} />
    </Page>
  );
}

function columns(revoke: (key: KeyJson) => void, rotate: (key: KeyJson) => void): Column<KeyJson>[] {
  return [
    {
      heading: 'Name',
      cell: ({ name }) =>
        name || (
          <Text span inherit c="dimmed">
            Unnamed
          </Text>
        ),
    },
    { heading: 'Key', cell: ({ hint }) => <Code>{hint}</Code> },
    { heading: 'Scope', cell: ({ scope }) => (scope === 'personal' ? 'Personal' : 'Org-wide') },
    {
      heading: 'Owner',
      cell: ({ owner }) => (owner === null ? 'The organization' : <Email address={owner} />),
    },
    {
      heading: 'Created by',
      secondary: true,
      cell: ({ createdBy }) => (createdBy === null ? 'Operator' : <Email address={createdBy} />),
    },
    { heading: 'Created', secondary: true, cell: ({ createdAt }) => <When iso={createdAt} /> },
    { heading: 'Last used', cell: ({ lastUsedAt }) => <When iso={lastUsedAt} /> },
    { heading: 'State', cell: (key) => <State {...key} /> },
    {
      heading: 'Actions',
      headingHidden: true,
      cell: (key) =>
        isLive(key) && (
          <Group gap="xs" justify="flex-end">
            {key.rotatable && (
              <Button
                size="xs"
                variant="default"
                onClick={() => rotate(key)}
                aria-label={`Rotate ${nameOf(key)}`}
              >
                Rotate
              </Button>
            )}
            <Button
              size="xs"
              variant="default"
              onClick={() => revoke(key)}
              aria-label={`Revoke ${nameOf(key)}`}
            >
              Revoke
            </Button>
          </Group>
        ),
    },
  ];
}

function isLive({ revokedAt }: KeyJson): boolean {
  return revokedAt === null || Date.parse(revokedAt) > Date.now();
}

function State(key: KeyJson) {
  const { revokedAt } = key;
  if (revokedAt !== null && isLive(key)) {
    return (
      <Text span size="sm">
        Works until {momentOf(new Date(revokedAt))}
      </Text>
    );
  }
  if (revokedAt === null) {
    return (
      <Badge tt="none" miw="max-content" color="teal" variant="light">
        Live
      </Badge>
    );
  }
  return (
    <Badge
      tt="none"
      miw="max-content"
      color="gray"
      variant="light"
      title={`Revoked ${momentOf(new Date(revokedAt))}`}
    >
      Revoked
    </Badge>
  );
}

function nameOf({ name, hint }: KeyJson): string {
  return name === '' ? hint : name;
}

function RevokeDialog({ doomed, onClose }: { doomed: KeyJson | null; onClose: () => void }) {
  const change = useChange();
  return (
    <Confirm
      opened={doomed !== null}
      onClose={onClose}
      title={doomed === null ? '' : `Revoke ${nameOf(doomed)}?`}
      confirmLabel="Revoke"
      destructive
      onConfirm={() => change.mutateAsync({ method: 'POST', path: `/keys/${doomed?.id}/revoke` })}
    >
      <Text size="sm">
        Requests with this key will be rejected immediately. You can’t undo this, but you can create a new
        key.
      </Text>
    </Confirm>
  );
}
