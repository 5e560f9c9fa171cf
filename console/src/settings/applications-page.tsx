import { Button, Code, Group, Stack, Text } from '@mantine/core';
import { IconApps } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Json } from '../api/contract.ts';
import { applicationsOptions } from '../api/queries.ts';
import { Confirm } from '../app/confirm.tsx';
import { CopyButton } from '../app/copy-button.tsx';
import { Dialog } from '../app/dialog.tsx';
import { Page } from '../app/page.tsx';
import { SecretShownOnce, ShellCommand } from '../app/secret-shown-once.tsx';
import { useOrganization } from '../app/session.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { NameForm } from './name-form.tsx';
import { useRowFilter } from './row-filter.tsx';
import { Name, RowButton, When } from './table-cells.tsx';
import { useChange } from './use-change.ts';

const title = 'Applications';

export function ApplicationsPage() {
  const { id } = useOrganization();
  const list = useQuery(applicationsOptions(id));
  const filter = useRowFilter(list.data?.applications, {
    noun: 'application',
    placeholder: 'Filter by name or client ID',
    textOf: ({ name, id }) => `${name} ${id}`,
  });
  const [creating, setCreating] = useState(false);
  const [rotating, setRotating] = useState<Json<'application'> | null>(null);
  const [deleting, setDeleting] = useState<Json<'application'> | null>(null);
  const [secret, setSecret] = useState<Json<'clientSecret'> | null>(null);
  const change = useChange<Json<'clientSecret'>>();
  const created = (made: Json<'clientSecret'>) => {
    setCreating(false);
    setSecret(made);
  };
  return (
    <Page
      title={title}
      width="wide"
      description="Machine-to-machine clients exchange a client ID and secret for a token. They can read all published threads."
      actions={
        <Button leftSection={<IconApps size={16} aria-hidden />} onClick={() => setCreating(true)}>
          Create application
        </Button>
      }
    >
      {filter.field}
      <DataTable
        caption={title}
        query={list}
        failure="Couldn’t load applications"
        rows={filter.rows}
        columns={columns(setRotating, setDeleting)}
        empty={
          filter.noMatch || (
            <EmptyState title="No applications yet">
              An application reads the organization’s published threads with short-lived tokens. Create one to
              get a client ID and secret.
            </EmptyState>
          )
        }
      />
      {list.data !== undefined && (
        <Group gap={4} mt="md">
          <Text size="sm" c="dimmed">
            Token endpoint: <Code>{list.data.tokenUrl}</Code>
          </Text>
          <CopyButton compact value={list.data.tokenUrl} label="Copy token endpoint" />
        </Group>
      )}
      <Dialog opened={creating} onClose={() => setCreating(false)} title="Create an application" secret>
        {creating && (
          <NameForm<Json<'clientSecret'>>
            path="/applications"
            description="The program that will use these credentials."
            submitLabel="Create application"
            failure="Couldn’t create the application"
            onCreated={created}
            onCancel={() => setCreating(false)}
          />
        )}
      </Dialog>
      <Dialog opened={secret !== null} onClose={() => setSecret(null)} title="Client credentials" secret>
        {secret !== null && <Credentials {...secret} tokenUrl={list.data?.tokenUrl ?? ''} />}
        <Group justify="flex-end" mt="md">
          <Button onClick={() => setSecret(null)}>Done</Button>
        </Group>
      </Dialog>
      <Confirm
        opened={rotating !== null}
        onClose={() => setRotating(null)}
        title={`Rotate the secret for ${rotating?.name}?`}
        confirmLabel="Rotate secret"
        destructive
        secret
        onConfirm={async () =>
          setSecret(
            await change.mutateAsync({ method: 'POST', path: `/applications/${rotating?.id}/rotate` }),
          )
        }
      >
        <Text size="sm">
          The old secret and all tokens stop working immediately. The application can’t get tokens until it
          has the new secret.
        </Text>
      </Confirm>
      <Confirm
        opened={deleting !== null}
        onClose={() => setDeleting(null)}
        title={`Delete ${deleting?.name}?`}
        confirmLabel="Delete"
        destructive
        onConfirm={() => change.mutateAsync({ method: 'DELETE', path: `/applications/${deleting?.id}` })}
      >
        <Text size="sm">Its secret and all tokens stop working immediately. You can’t undo this.</Text>
      </Confirm>
    </Page>
  );
}

function Credentials({ id, clientSecret, tokenUrl }: Json<'clientSecret'> & { tokenUrl: string }) {
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
      <ShellCommand title="Get a token" label="Command to get a token" command={curl} />
    </Stack>
  );
}

function columns(
  rotate: (application: Json<'application'>) => void,
  remove: (application: Json<'application'>) => void,
): Column<Json<'application'>>[] {
  return [
    { heading: 'Name', cell: ({ name }) => <Name name={name} /> },
    {
      heading: 'Client ID',
      cell: ({ id, name }) => (
        <Group gap={4} wrap="nowrap">
          <Code>{id}</Code>
          <CopyButton compact value={id} label={`Copy client ID of ${name}`} />
        </Group>
      ),
    },
    { heading: 'Created', secondary: true, cell: ({ createdAt }) => <When iso={createdAt} /> },
    { heading: 'Secret rotated', cell: ({ rotatedAt }) => <When iso={rotatedAt} /> },
    { heading: 'Last used', cell: ({ lastUsedAt }) => <When iso={lastUsedAt} /> },
    {
      heading: 'Actions',
      headingHidden: true,
      cell: (application) => (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <RowButton aria-label={`Rotate secret for ${application.name}`} onClick={() => rotate(application)}>
            Rotate secret
          </RowButton>
          <RowButton aria-label={`Delete ${application.name}`} onClick={() => remove(application)}>
            Delete
          </RowButton>
        </Group>
      ),
    },
  ];
}
