import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { announce } from './announcer.tsx';

interface CopyButtonProps {
  readonly value: string;
  /** What it copies, as in "Copy the trace id". */
  readonly label: string;
  /** The icon alone, where space is short; the label is then its name. */
  readonly compact?: boolean;
}

export function CopyButton({ value, label, compact = false }: CopyButtonProps) {
  const clipboard = useClipboard({ timeout: 2_000 });
  const copy = () => {
    clipboard.copy(value);
    announce('Copied');
  };
  const icon = clipboard.copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />;
  const text = clipboard.copied ? 'Copied' : label;
  if (!compact) {
    return (
      <Button variant="default" size="xs" leftSection={icon} onClick={copy}>
        {text}
      </Button>
    );
  }
  return (
    <Tooltip label={text}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={copy}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}
