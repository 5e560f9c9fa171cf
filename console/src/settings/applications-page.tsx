import { Button, Code, Group, Text } from '@mantine/core';
import { IconApps } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApplicationJson, ClientSecretJson } from '../api/contract.ts';
import { applicationsOptions } from '../api/queries.ts';
import { Confirm } from '../app/confirm.tsx';
import { CopyButton } from '../app/copy-button.tsx';
import { Failure } from '../app/failure.tsx';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import { AdminsOnly } from './admins-only.tsx';
import { ClientSecretDialog, NewApplicationDialog } from './application-dialogs.tsx';
import { type Column, DataTable } from './data-table.tsx';
import { EmptyState } from './empty-state.tsx';
import { OutsideBeta } from './outside-beta.tsx';
import { useChange } from './use-change.ts';
import { When } from './when.tsx';

const title = 'Applications';

export function ApplicationsPage() {
  const { role, apiEnabled } = useOrganization();
  if (role !== 'admin') return <AdminsOnly title={title} />;
  return apiEnabled ? <Applications /> : <OutsideBeta title={title} />;
}

function Applications() {
  const { id } = useOrganization();
  const { data, error, refetch } = useQuery(applicationsOptions(id));
  const [making, setMaking] = useState(false);
  const [rotating, setRotating] = useState<ApplicationJson | null>(null);
  const [doomed, setDoomed] = useState<ApplicationJson | null>(null);
  const [secret, setSecret] = useState<ClientSecretJson | null>(null);
  const change = useChange<ClientSecretJson>();

  return (
    <Page
      title={title}
      width="wide"
      description="Machine-to-machine clients. They exchange a client ID and secret for a token and can read all published threads."
      actions={
        <Button leftSection={<IconApps size={16} aria-hidden />} onClick={() => setMaking(true)}>
          Create application
        </Button>
      }
    >
      {error !== null && (
        <Failure error={error} title="Couldn’t load applications" onRetry={() => refetch()} />
      )}
      {error === null && (
        <DataTable
          caption={title}
          rows={data?.applications}
          columns={columns(setRotating, setDoomed)}
          empty={
            <EmptyState title="No applications yet">
              An application reads the organization’s published threads with short-lived tokens. Create one to
              get a client ID and secret.
            </EmptyState>
          }
        />
      )}
      {data !== undefined && (
        <Text size="sm" c="dimmed" mt="md">
          Token endpoint: <Code>{data.tokenUrl}</Code>
        </Text>
      )}
      <NewApplicationDialog opened={making} onClose={() => setMaking(false)} onMade={setSecret} />
      <ClientSecretDialog secret={secret} tokenUrl={data?.tokenUrl ?? ''} onClose={() => setSecret(null)} />
      <Confirm
        opened={rotating !== null}
        onClose={() => setRotating(null)}
        title={`Rotate the secret for ${rotating?.name}?`}
        confirmLabel="Rotate secret"
        destructive
        onConfirm={async () =>
          setSecret(
            await change.mutateAsync({ method: 'POST', path: `/applications/${rotating?.id}/rotate` }),
          )
        }
      >
        <Text size="sm">
          The old secret and all live tokens stop working immediately. The application can’t get tokens until
          it has the new secret.
        </Text>
      </Confirm>
      <Confirm
        opened={doomed !== null}
        onClose={() => setDoomed(null)}
        title={`Delete ${doomed?.name}?`}
        confirmLabel="Delete"
        destructive
        onConfirm={() => change.mutateAsync({ method: 'DELETE', path: `/applications/${doomed?.id}` })}
      >
        <Text size="sm">Its secret and all live tokens stop working immediately. This cannot be undone.</Text>
      </Confirm>
    </Page>
  );
}

function columns(
  rotate: (application: ApplicationJson) => void,
  remove: (application: ApplicationJson) => void,
): Column<ApplicationJson>[] {
  return [
    { heading: 'Name', cell: ({ name }) => name },
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
          <Button
            size="xs"
            variant="default"
            onClick={() => rotate(application)}
            aria-label={`Rotate secret for ${application.name}`}
          >
            Rotate secret
          </Button>
          <Button
            size="xs"
            variant="default"
            onClick={() => remove(application)}
            aria-label={`Delete ${application.name}`}
          >
            Delete
          </Button>
        </Group>
      ),
    },
  ];
}
