import { Badge, Button, Select, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DocumentJson, DocumentsJson } from '../api/contract.ts';
import { documentsOptions } from '../api/queries.ts';
import { bytesInWords } from '../app/byte-words.ts';
import { Confirm } from '../app/confirm.tsx';
import { Failure } from '../app/failure.tsx';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import classes from './data-table.module.css';
import { type Column, DataTable } from './data-table.tsx';
import { DocumentUpload } from './document-upload.tsx';
import { EmptyState } from './empty-state.tsx';
import { useChange } from './use-change.ts';
import { When } from './when.tsx';

export function DocumentsPage() {
  const { id, role } = useOrganization();
  const { data, error, refetch } = useQuery(documentsOptions(id));
  const [doomed, setDoomed] = useState<DocumentJson | null>(null);
  const [account, setAccount] = useState('all');
  const change = useChange();
  const isAdmin = role === 'admin';
  return (
    <Page
      title="Documents"
      width="wide"
      description="Replies are based on these documents. General documents are used for every thread, account documents only for that account’s threads."
    >
      {error !== null && <Failure error={error} title="Couldn’t load documents" onRetry={() => refetch()} />}
      {isAdmin && data !== undefined && <DocumentUpload endings={data.endings} />}
      {data !== undefined && <Storage storage={data.storage} />}
      {data?.documents.some(({ accountId }) => accountId !== null) && (
        <AccountFilter documents={data.documents} value={account} onChange={setAccount} />
      )}
      {error === null && (
        <DataTable
          caption="Documents"
          rows={data?.documents.filter((document) => account === 'all' || account === accountKey(document))}
          columns={columns(isAdmin ? setDoomed : undefined)}
          empty={
            <EmptyState title="No documents yet">
              {isAdmin
                ? 'Drop files above. Replies will use them and cite them as sources.'
                : 'Replies have no documents to use yet. An admin can add some here.'}
            </EmptyState>
          }
        />
      )}
      <Confirm
        opened={doomed !== null}
        onClose={() => setDoomed(null)}
        title={`Remove ${doomed?.name}?`}
        confirmLabel="Remove"
        destructive
        onConfirm={() => change.mutateAsync({ method: 'DELETE', path: `/documents/${doomed?.id}` })}
      >
        <Text size="sm">New replies won’t use it. Existing replies keep their citations.</Text>
      </Confirm>
    </Page>
  );
}

function Storage({ storage }: Pick<DocumentsJson, 'storage'>) {
  const { documents, documentsMax, bytes, bytesMax } = storage;
  const count = `${documents.toLocaleString()} of ${documentsMax.toLocaleString()} documents`;
  return (
    <Text size="sm" c="dimmed" mb="md">
      {count}, {bytesInWords(bytes)} of {bytesInWords(bytesMax)} of text
    </Text>
  );
}

interface AccountFilterProps {
  readonly documents: readonly DocumentJson[];
  readonly value: string;
  readonly onChange: (account: string) => void;
}

function AccountFilter({ documents, value, onChange }: AccountFilterProps) {
  const accounts = new Set(documents.map(({ accountId }) => accountId).filter((id) => id !== null));
  return (
    <Select
      label="Show"
      data={[
        { value: 'all', label: 'All documents' },
        { value: 'general', label: 'General documents' },
        ...[...accounts].sort().map((id) => ({ value: `=${id}`, label: `Account ${id}` })),
      ]}
      value={value}
      onChange={(chosen) => onChange(chosen ?? 'all')}
      allowDeselect={false}
      searchable
      maw={360}
      mb="md"
    />
  );
}

/** Prefixed, so that no account name can be confused with the options for none or all. */
function accountKey({ accountId }: DocumentJson): string {
  return accountId === null ? 'general' : `=${accountId}`;
}

function columns(remove: ((document: DocumentJson) => void) | undefined): Column<DocumentJson>[] {
  const shown: Column<DocumentJson>[] = [
    {
      heading: 'Document',
      cell: ({ title, name }) => (
        <div>
          <Text size="sm" fw={500} className={classes.breaksAnywhere}>
            {title}
          </Text>
          {name !== title && (
            <Text size="xs" c="dimmed" className={classes.breaksAnywhere}>
              {name}
            </Text>
          )}
        </div>
      ),
    },
    {
      heading: 'Account',
      cell: ({ accountId }) =>
        accountId === null ? (
          'General'
        ) : (
          <Badge variant="light" color="gray" tt="none" miw="max-content">
            {accountId}
          </Badge>
        ),
    },
    { heading: 'Passages', cell: ({ passages }) => passages.toLocaleString() },
    { heading: 'Added', cell: ({ addedAt }) => <When iso={addedAt} /> },
  ];
  if (remove === undefined) return shown;
  return [
    ...shown,
    {
      heading: 'Actions',
      headingHidden: true,
      cell: (document) => (
        <Button
          size="xs"
          variant="default"
          onClick={() => remove(document)}
          aria-label={`Remove ${document.name}`}
        >
          Remove
        </Button>
      ),
    },
  ];
}
