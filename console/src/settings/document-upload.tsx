import '@mantine/dropzone/styles.css';
import { Autocomplete, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { Dropzone, type FileRejection } from '@mantine/dropzone';
import { useDebouncedValue } from '@mantine/hooks';
import { IconAlertTriangle, IconCheck, IconFileUpload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { accountsOptions } from '../api/queries.ts';
import { inOrganization, query } from '../api/request.ts';
import { upload } from '../api/upload.ts';
import { announce } from '../app/announcer.tsx';
import { failureText } from '../app/failure.tsx';
import { formatBytes } from '../app/format-bytes.ts';
import { counted } from '../app/format-count.ts';
import { useLimits, useOrganization } from '../app/session.tsx';
import { useRefresh } from './use-change.ts';

interface DocumentUploadProps {
  readonly endings: readonly string[];
}

/** A file, how much of it has been sent, and the outcome. */
interface Upload {
  readonly id: string;
  readonly name: string;
  /** 0 to 1. */
  readonly progress: number;
  readonly outcome: { readonly ok: boolean; readonly text: string } | null;
}

export function DocumentUpload({ endings }: DocumentUploadProps) {
  const { documentBytesMax: bytesMax } = useLimits();
  const [account, setAccount] = useState('');
  const { uploads, add, refuse } = useUploads(account.trim());
  const sizeMax = formatBytes(bytesMax);
  return (
    <Stack mb="lg" gap="sm">
      <AccountChoice value={account} onChange={setAccount} />
      <Dropzone
        onDrop={add}
        onReject={(rejections) => refuse(rejections, sizeMax)}
        maxSize={bytesMax}
        // Checks the name, because browsers have no type for Markdown.
        validator={({ name }) => (hasEnding(name, endings) ? null : unreadable(endings))}
        inputProps={{ 'aria-label': 'Add files' }}
        aria-label="Drop files here or click to choose"
        p="lg"
      >
        <Group justify="center" gap="sm" wrap="nowrap" style={{ pointerEvents: 'none' }}>
          <IconFileUpload size={28} style={{ flex: 'none' }} aria-hidden />
          <div>
            <Text fw={500}>Drop files here or click to choose</Text>
            <Text size="sm" c="dimmed">
              {endings.join(', ')}, up to {sizeMax} each. A file with the same name replaces the existing one.
            </Text>
          </div>
        </Group>
      </Dropzone>
      {uploads.length > 0 && (
        <Stack gap="xs" component="ul" p={0} m={0} aria-label="Uploads" style={{ listStyle: 'none' }}>
          {uploads.map((one) => (
            <UploadLine key={one.id} upload={one} />
          ))}
        </Stack>
      )}
    </Stack>
  );
}

function AccountChoice({ value, onChange }: { value: string; onChange: (account: string) => void }) {
  const { id } = useOrganization();
  const [prefix] = useDebouncedValue(value, 200);
  const { linkLengthMax } = useLimits();
  const { data } = useQuery(accountsOptions(id, prefix));
  return (
    <Autocomplete
      label="Account"
      description="Leave empty for general documents, which are used for every thread."
      placeholder="General"
      data={[...(data?.accounts ?? [])]}
      value={value}
      onChange={onChange}
      maw={460}
      maxLength={linkLengthMax}
    />
  );
}

function UploadLine({ upload: { name, progress, outcome } }: { upload: Upload }) {
  return (
    <Paper component="li" withBorder p="xs">
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm" fw={500} truncate>
          {name}
        </Text>
        <Group gap={6} wrap="nowrap">
          {outcome !== null &&
            (outcome.ok ? <IconCheck size={16} aria-hidden /> : <IconAlertTriangle size={16} aria-hidden />)}
          <Text size="sm" {...(outcome?.ok === false && { c: 'var(--mantine-color-error)' })}>
            {outcome?.text ?? (progress < 1 ? `${Math.round(progress * 100)}%` : 'Reading…')}
          </Text>
        </Group>
      </Group>
      {outcome === null && (
        <Progress value={progress * 100} size="sm" mt={6} aria-label={`Upload of ${name}`} />
      )}
    </Paper>
  );
}

function useUploads(account: string) {
  const { id } = useOrganization();
  const refresh = useRefresh();
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const count = useRef(0);

  const start = (name: string, outcome: Upload['outcome']): string => {
    count.current += 1;
    const uploadId = `upload-${count.current}`;
    setUploads((all) => [...all, { id: uploadId, name, progress: 0, outcome }]);
    return uploadId;
  };
  const change = (uploadId: string, to: Partial<Upload>) =>
    setUploads((all) => all.map((one) => (one.id === uploadId ? { ...one, ...to } : one)));

  async function send(uploadId: string, file: File): Promise<void> {
    const path = inOrganization(id, `/documents${query({ name: file.name, accountId: account })}`);
    try {
      const added = await upload<Json<'addedDocument'>>(path, file, (progress) =>
        change(uploadId, { progress }),
      );
      const text = `${added.replaced ? 'Replaced' : 'Added'}, ${counted(added.passages, 'passage')}`;
      change(uploadId, { outcome: { ok: true, text } });
      announce(`${file.name}: ${text}`);
      await refresh();
    } catch (error) {
      change(uploadId, { outcome: { ok: false, text: failureText(error) } });
      announce(`Couldn’t add ${file.name}`);
    }
  }

  /** Sends one file after the other, because the service reads one at a time anyway. */
  async function add(files: readonly File[]): Promise<void> {
    const started = files.map((file) => ({ file, uploadId: start(file.name, null) }));
    for (const { file, uploadId } of started) await send(uploadId, file);
  }

  function refuse(rejections: readonly FileRejection[], sizeMax: string): void {
    for (const { file, errors } of rejections) {
      const [first] = errors;
      const text =
        first?.code === 'file-too-large' ? `Larger than ${sizeMax}` : (first?.message ?? 'Rejected');
      start(file.name, { ok: false, text });
      announce(`Couldn’t add ${file.name}`);
    }
  }

  return { uploads, add, refuse };
}

function hasEnding(name: string | undefined, endings: readonly string[]): boolean {
  // Browsers hide the names of files that are only being dragged over the page.
  return name === undefined || endings.some((ending) => name.toLowerCase().endsWith(ending));
}

function unreadable(endings: readonly string[]) {
  return { code: 'unreadable', message: `Unsupported file type. Use ${endings.join(', ')}` };
}
