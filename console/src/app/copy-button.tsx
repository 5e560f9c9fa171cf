import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { announce } from './announcer.tsx';
import { copyText } from './copy-text.ts';

interface CopyButtonProps {
  readonly value: string;
  /** What it copies, as in "Copy trace ID". */
  readonly label: string;
  /** Shows only the icon. The label is then its accessible name. */
  readonly compact?: boolean;
}

export function CopyButton({ value, label, compact = false }: CopyButtonProps) {
  const { outcome, copy } = useCopy(value);
  const Icon = outcome === 'Copied' ? IconCheck : IconCopy;
  if (!compact) {
    return (
      <Button variant="default" size="xs" leftSection={<Icon size={16} aria-hidden />} onClick={copy}>
        {outcome ?? label}
      </Button>
    );
  }
  return (
    <Tooltip label={outcome ?? label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={copy}>
        <Icon size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

/** Copies the value on request. `outcome` is shown for two seconds, and is null at other times. */
export function useCopy(value: string): { outcome: 'Copied' | 'Copy failed' | null; copy: () => void } {
  const [outcome, setOutcome] = useState<'Copied' | 'Copy failed' | null>(null);
  useEffect(() => {
    if (outcome === null) return;
    const timer = setTimeout(() => setOutcome(null), 2_000);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => {
    const text = (await copyText(value)) ? 'Copied' : 'Copy failed';
    setOutcome(text);
    announce(text);
  };
  return { outcome, copy: () => void copy() };
}
