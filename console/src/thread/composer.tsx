import { Button, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { keep, readKept } from '../app/kept.ts';

export interface ComposerProps {
  /** What the draft is kept under; unique to the person, the organization and the thread. */
  readonly draftName: string;
  /** The name of the field. */
  readonly label: string;
  readonly placeholder?: string;
  /** The verb on the button. */
  readonly sendLabel: string;
  readonly sending: boolean;
  readonly autoFocus?: boolean;
  /** The draft is forgotten once it resolves, and kept where it rejects. */
  readonly onSend: (prompt: string) => Promise<unknown>;
}

export function Composer({
  draftName,
  label,
  placeholder,
  sendLabel,
  sending,
  autoFocus,
  onSend,
}: ComposerProps) {
  const [text, setText] = useState(() => readKept(draftName) ?? '');
  const change = (next: string) => {
    setText(next);
    keep(draftName, next);
  };
  const send = () => {
    if (text.trim() !== '' && !sending)
      onSend(text).then(
        () => change(''),
        () => undefined,
      );
  };
  return (
    <Stack>
      <Textarea
        label={label}
        {...(placeholder !== undefined && { placeholder })}
        autosize
        minRows={3}
        data-autofocus={autoFocus}
        value={text}
        onChange={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
        }}
      />
      <Button onClick={send} loading={sending}>
        {sendLabel}
      </Button>
    </Stack>
  );
}
