import { Button, Code, Group, Text } from '@mantine/core';
import { IconKey } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Json } from '../api/contract.ts';
import { keysOptions } from '../api/queries.ts';
import { announce } from '../app/announcer.tsx';
import { Confirm } from '../app/confirm.tsx';
import { Dialog } from '../app/dialog.tsx';
import { formatDateTime } from '../app/format-time.ts';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import classes from './data-table.module.css';
import { type Column, DataTable } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { NewKey, RotateKey } from './key-forms.tsx';
import { KeyRequests } from './key-requests.tsx';
import { NameForm } from './name-form.tsx';
import { useRowFilter } from './row-filter.tsx';
import { Email, Name, RowButton, StateBadge, When } from './table-cells.tsx';
import { useChange } from './use-change.ts';

export function KeysPage() {
  const { id, role } = useOrganization();
  const list = useQuery(keysOptions(id));
  const filter = useRowFilter(list.data?.keys, {
    noun: 'key',
    placeholder: 'Filter by name, key, owner or state',
    textOf: (key) => [key.name, key.hint, formatScope(key), formatOwner(key), describeState(key)].join(' '),
  });
  const [creating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<Json<'key'> | null>(null);
  const [rotated, setRotated] = useState<Json<'key'> | null>(null);
  const change = useChange();
  const isAdmin = role === 'admin';
  const closeForm = () => setCreating(false);
  return (
    <Page
      title="API keys"
      width="wide"
      description={
        <>
          {isAdmin
            ? 'Active API keys and the 200 most recent revoked ones. A key is shown in full only once, when you create it. '
            : 'Your personal keys. An admin approves your request for a key, but only you see the key itself. '}
          <a href="/docs/api-guide/" target="_blank" rel="noreferrer">
            API guide
          </a>
        </>
      }
      actions={
        <Button leftSection={<IconKey size={16} aria-hidden />} onClick={() => setCreating(true)}>
          {isAdmin ? 'Create key' : 'Request key'}
        </Button>
      }
    >
      {list.data && <KeyRequests requests={list.data.requests} />}
      {filter.field}
      <DataTable
        caption="API keys"
        query={list}
        failure="Couldn’t load API keys"
        rows={filter.rows}
        columns={columns(setRevoked, setRotated)}
        empty={
          filter.noMatch || (
            <EmptyState title="No keys yet">
              {isAdmin
                ? 'Programs need a key to create and read threads. Create one for yourself, for a service account, or for the whole organization.'
                : 'You don’t have any keys. Request one from an admin.'}
            </EmptyState>
          )
        }
      />
      <Dialog opened={creating && isAdmin} onClose={closeForm} title="Create an API key" secret>
        {creating && <NewKey onClose={closeForm} />}
      </Dialog>
      <Dialog opened={creating && !isAdmin} onClose={closeForm} title="Request an API key">
        {creating && <RequestKey onClose={closeForm} />}
      </Dialog>
      <Dialog
        opened={rotated !== null}
        onClose={() => setRotated(null)}
        title={rotated && `Rotate ${formatName(rotated)}`}
        secret
      >
        {rotated !== null && <RotateKey rotated={rotated} onClose={() => setRotated(null)} />}
      </Dialog>
      <Confirm
        opened={revoked !== null}
        onClose={() => setRevoked(null)}
        title={revoked === null ? '' : `Revoke ${formatName(revoked)}?`}
        confirmLabel="Revoke"
        destructive
        onConfirm={() => change.mutateAsync({ method: 'POST', path: `/keys/${revoked?.id}/revoke` })}
      >
        <Text size="sm">
          The key stops working immediately. You can’t undo this, but you can create a new key.
        </Text>
      </Confirm>
    </Page>
  );
}

function RequestKey({ onClose }: { onClose: () => void }) {
  return (
    <NameForm
      path="/key-requests"
      description="What the key is for. Admins can see this."
      submitLabel="Request key"
      failure="Couldn’t request the key"
      onCreated={() => {
        announce('Key requested');
        onClose();
      }}
      onCancel={onClose}
    >
      <Text size="sm">
        An admin will review your request. Once it’s approved, you can reveal the key here. Only you will see
        it. The key acts as you: it creates threads in your name and reads your threads and all published
        ones.
      </Text>
    </NameForm>
  );
}

function columns(
  revoke: (key: Json<'key'>) => void,
  rotate: (key: Json<'key'>) => void,
): Column<Json<'key'>>[] {
  return [
    {
      heading: 'Name',
      cell: ({ name }) =>
        name === '' ? (
          <Text span inherit c="dimmed">
            Unnamed
          </Text>
        ) : (
          <Name name={name} />
        ),
    },
    { heading: 'Key', cell: ({ hint }) => <Code>{hint}</Code> },
    {
      heading: 'Scope',
      cell: (key) => <span className={classes.whole}>{formatScope(key)}</span>,
    },
    {
      heading: 'Owner',
      cell: (key) => <Email address={formatOwner(key)} />,
    },
    {
      heading: 'Created',
      secondary: true,
      cell: ({ createdAt, createdBy }) => (
        <div>
          <When iso={createdAt} />
          <Text size="xs" c="dimmed">
            by {createdBy === null ? 'the operator' : <Email address={createdBy} />}
          </Text>
        </div>
      ),
    },
    { heading: 'Last used', cell: ({ lastUsedAt }) => <When iso={lastUsedAt} /> },
    { heading: 'State', cell: (key) => <State {...key} /> },
    {
      heading: 'Actions',
      headingHidden: true,
      cell: (key) =>
        isLive(key) && (
          <Group gap="xs" wrap="nowrap" justify="flex-end">
            {key.rotatable && (
              <RowButton aria-label={`Rotate ${formatName(key)}`} onClick={() => rotate(key)}>
                Rotate
              </RowButton>
            )}
            <RowButton aria-label={`Revoke ${formatName(key)}`} onClick={() => revoke(key)}>
              Revoke
            </RowButton>
          </Group>
        ),
    },
  ];
}

function isLive({ revokedAt }: Json<'key'>): boolean {
  return revokedAt === null || Date.parse(revokedAt) > Date.now();
}

function formatScope({ scope }: Json<'key'>): string {
  return scope === 'personal' ? 'Personal' : 'Org-wide';
}

function formatOwner({ owner }: Json<'key'>): string {
  return owner ?? 'The organization';
}

function describeState(key: Json<'key'>): 'Active' | 'Valid until' | 'Revoked' {
  if (key.revokedAt === null) return 'Active';
  return isLive(key) ? 'Valid until' : 'Revoked';
}

function State(key: Json<'key'>) {
  const state = describeState(key);
  if (key.revokedAt === null) return <StateBadge color="teal">{state}</StateBadge>;
  if (isLive(key)) {
    return (
      <div>
        {state} <When iso={key.revokedAt} exact />
      </div>
    );
  }
  return (
    <StateBadge color="gray" title={`Revoked ${formatDateTime(new Date(key.revokedAt))}`}>
      {state}
    </StateBadge>
  );
}

function formatName({ name, hint }: Json<'key'>): string {
  return name === '' ? hint : name;
}
