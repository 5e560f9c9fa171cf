import { Button, Checkbox, FileButton, Group, Progress, Select, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { documentsOptions } from '../api/queries.ts';
import { type ApiError, inOrganization, query, request } from '../api/request.ts';
import { upload } from '../api/upload.ts';
import { announce } from '../app/announcer.tsx';
import { Confirm } from '../app/confirm.tsx';
import { failureText } from '../app/failure.tsx';
import { formatBytes } from '../app/format-bytes.ts';
import { counted, formatNumber } from '../app/format-count.ts';
import { Page } from '../app/page.tsx';
import { useOrganization } from '../app/session.tsx';
import classes from './data-table.module.css';
import { type Column, DataTable } from './data-table.tsx';
import { DocumentUpload } from './document-upload.tsx';
import { EmptyState } from './empty-state.tsx';
import { QuestionTest } from './question-test.tsx';
import { useRowFilter } from './row-filter.tsx';
import { RowButton, StateBadge, When } from './table-cells.tsx';
import { useRefresh } from './use-change.ts';

export function DocumentsPage() {
  const { id, role } = useOrganization();
  const list = useQuery(documentsOptions(id));
  const { data } = list;
  const [removed, setRemoved] = useState<readonly Json<'document'>[]>([]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [chosenAccount, setAccount] = useState('all');
  const { done, remove, clear } = useRemoval();
  const isAdmin = role === 'admin';
  // The last document of an account may have been removed.
  const account = data?.documents.some((one) => accountKey(one) === chosenAccount) ? chosenAccount : 'all';
  const filter = useRowFilter(
    data?.documents.filter((document) => account === 'all' || account === accountKey(document)),
    {
      noun: 'document',
      placeholder: 'Filter by title or file name',
      textOf: ({ title, name }) => `${title} ${name}`,
    },
  );
  const shown = filter.rows;
  const selected = shown?.filter((document) => chosen.has(document.id)) ?? [];
  const areAllSelected = selected.length === shown?.length;

  return (
    <Page
      title="Documents"
      width="wide"
      description="Replies are based on these documents. General documents are used for every thread, account documents only for that account’s threads."
    >
      {isAdmin && data !== undefined && <DocumentUpload endings={data.endings} />}
      {data !== undefined && <Storage storage={data.storage} />}
      {isAdmin && data !== undefined && data.documents.length > 0 && (
        <QuestionTest accountId={account.startsWith('=') ? account.slice(1) : undefined} />
      )}
      {data !== undefined && data.documents.length > 0 && (
        <Group align="flex-end" gap="sm" mb="md" className={classes.filters}>
          {filter.field}
          {data.documents.some(({ accountId }) => accountId !== null) && (
            <AccountFilter documents={data.documents} value={account} onChange={setAccount} />
          )}
          {isAdmin && shown !== undefined && shown.length > 1 && (
            <Checkbox
              label={`Select all ${formatNumber(shown.length)}`}
              checked={areAllSelected}
              indeterminate={selected.length > 0 && !areAllSelected}
              onChange={() => setChosen(new Set(areAllSelected ? [] : shown.map((document) => document.id)))}
              my="xs"
            />
          )}
          {selected.length > 0 && (
            <Button color="red" variant="light" onClick={() => setRemoved(selected)}>
              Remove {formatNumber(selected.length)} selected
            </Button>
          )}
        </Group>
      )}
      <DataTable
        caption="Documents"
        query={list}
        failure="Couldn’t load documents"
        rows={shown}
        columns={[
          ...(isAdmin ? [selection(chosen, setChosen)] : []),
          ...columns,
          ...(isAdmin ? [actions((document) => setRemoved([document]))] : []),
        ]}
        empty={filter.noMatch || <NoDocuments isAdmin={isAdmin} />}
      />
      <Confirm
        opened={removed.length > 0}
        onClose={() => {
          setRemoved([]);
          clear();
        }}
        title={`Remove ${removed.length === 1 ? removed[0]?.name : counted(removed.length, 'document')}?`}
        confirmLabel="Remove"
        destructive
        onConfirm={() => remove(removed).then(() => setChosen(new Set()))}
      >
        <Text size="sm">
          New replies won’t use {removed.length === 1 ? 'it' : 'them'}. Existing replies keep their citations.
        </Text>
        {done > 0 && (
          <Text size="sm" mt="xs">
            {formatNumber(done)} of {formatNumber(removed.length)} removed
          </Text>
        )}
      </Confirm>
    </Page>
  );
}

/** How many ids the service accepts in one request. */
const idsPerRequest = 100;

/** Removes documents, in several requests if there are many. `done` is the progress. */
function useRemoval() {
  const { id } = useOrganization();
  const refresh = useRefresh();
  const [done, setDone] = useState(0);

  async function remove(documents: readonly Json<'document'>[]): Promise<void> {
    const path = inOrganization(id, '/documents/remove');
    const ids = documents.map((document) => document.id);
    let [position, removed] = [0, 0];
    setDone(0);
    try {
      while (position < ids.length) {
        const body = { ids: ids.slice(position, position + idsPerRequest) };
        const response = await request<Json<'removedDocuments'>>('POST', path, { body });
        position += response.handled;
        removed += response.removed;
        setDone(position);
      }
    } finally {
      announce(`${counted(removed, 'document')} removed`);
      await refresh();
    }
  }

  return { done, remove, clear: () => setDone(0) };
}

function NoDocuments({ isAdmin }: { isAdmin: boolean }) {
  return (
    <EmptyState title="No documents yet">
      {isAdmin
        ? 'Drop files above. Replies will use them and cite them as sources.'
        : 'Replies have no documents to use yet. An admin can add them on this page.'}
    </EmptyState>
  );
}

/** How much of its budget the organization uses. */
function Storage({ storage }: Pick<Json<'documents'>, 'storage'>) {
  const { documents, documentsMax, bytes, bytesMax } = storage;
  const share = Math.max(documents / documentsMax, bytes / bytesMax) * 100;
  const text = `${formatNumber(documents)} of ${formatNumber(documentsMax)} documents, ${formatBytes(bytes)} of ${formatBytes(bytesMax)} of text`;
  return (
    <Stack gap={6} mb="lg">
      <Text size="sm" c="dimmed">
        {text}
      </Text>
      <Progress
        value={share}
        size="sm"
        color={share >= 90 ? 'red' : 'indigo'}
        aria-label="Document storage used"
      />
    </Stack>
  );
}

interface AccountFilterProps {
  readonly documents: readonly Json<'document'>[];
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
    />
  );
}

/** Prefixed, so that no account name can be confused with the options for none or all. */
function accountKey({ accountId }: Json<'document'>): string {
  return accountId === null ? 'general' : `=${accountId}`;
}

const columns: readonly Column<Json<'document'>>[] = [
  {
    heading: 'Document',
    sortBy: ({ title }) => title,
    cell: ({ id, title, name }) => (
      <div>
        <Text size="sm" fw={500} className={classes.breaksAnywhere}>
          <Link to="/documents/$documentId" params={{ documentId: id }}>
            {title}
          </Link>
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
    sortBy: ({ accountId }) => accountId ?? '',
    cell: ({ accountId }) =>
      accountId === null ? 'General' : <StateBadge color="gray">{accountId}</StateBadge>,
  },
  {
    heading: 'Passages',
    sortBy: ({ passages }) => passages,
    cell: ({ passages }) => formatNumber(passages),
  },
  { heading: 'Added', sortBy: ({ addedAt }) => addedAt, cell: ({ addedAt }) => <When iso={addedAt} /> },
];

function selection(
  chosen: ReadonlySet<string>,
  choose: (ids: ReadonlySet<string>) => void,
): Column<Json<'document'>> {
  return {
    heading: 'Select',
    headingHidden: true,
    cell: ({ id, name }) => (
      <Checkbox
        aria-label={`Select ${name}`}
        checked={chosen.has(id)}
        onChange={({ currentTarget }) => {
          const next = new Set(chosen);
          if (currentTarget.checked) next.add(id);
          else next.delete(id);
          choose(next);
        }}
      />
    ),
  };
}

function actions(remove: (document: Json<'document'>) => void): Column<Json<'document'>> {
  return {
    heading: 'Actions',
    headingHidden: true,
    cell: (document) => (
      <Group gap="xs" wrap="nowrap" justify="flex-end">
        <ReplaceButton document={document} />
        <RowButton onClick={() => remove(document)} aria-label={`Remove ${document.name}`}>
          Remove
        </RowButton>
      </Group>
    ),
  };
}

/** Uploads another file under the name of the document, which replaces it. */
function ReplaceButton({ document: { name, accountId } }: { document: Json<'document'> }) {
  const { id } = useOrganization();
  const refresh = useRefresh();
  const reset = useRef<() => void>(null);
  const replacing = useMutation<Json<'addedDocument'>, ApiError, File>({
    mutationFn: (file) => {
      const path = `/documents${query({ name, accountId: accountId ?? undefined })}`;
      return upload(inOrganization(id, path), file, () => {});
    },
    onSuccess: refresh,
    onSettled: (_, error) => announce(error === null ? `${name} replaced` : `Couldn’t replace ${name}`),
  });
  const ending = /\.[^.]+$/.exec(name)?.[0];
  return (
    <>
      {replacing.isError && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {failureText(replacing.error)}
        </Text>
      )}
      <FileButton
        onChange={(file) => {
          if (file) replacing.mutate(file);
          // A browser reports no change if the same file is chosen again.
          reset.current?.();
        }}
        resetRef={reset}
        {...(ending && { accept: ending })}
        inputProps={{ 'aria-label': `New file for ${name}` }}
      >
        {(props) => (
          <RowButton {...props} loading={replacing.isPending} aria-label={`Replace ${name}`}>
            Replace
          </RowButton>
        )}
      </FileButton>
    </>
  );
}
