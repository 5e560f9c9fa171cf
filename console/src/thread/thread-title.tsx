import { ActionIcon, Group, TextInput, UnstyledButton } from '@mantine/core';
import { IconCheck, IconPencil, IconX } from '@tabler/icons-react';
import { type FocusEvent, type KeyboardEvent, useRef, useState } from 'react';
import { failureText } from '../app/failure.tsx';
import { useLimits } from '../app/session.tsx';
import { shownTitle } from '../threads/shown-title.ts';
import classes from './thread.module.css';
import type { ThreadChanges } from './thread-changes.ts';
import hidden from './unseen.module.css';

interface ThreadTitleProps {
  readonly title: string;
  readonly rename: ThreadChanges['rename'];
  readonly isEditing: boolean;
  readonly onEditing: (isEditing: boolean) => void;
}

/** The heading of the page. The creator can rename the thread in place: Enter or leaving the field saves, Esc cancels. */
export function ThreadTitle({ title, rename, isEditing, onEditing }: ThreadTitleProps) {
  const opener = useRef<HTMLButtonElement>(null);
  const end = () => {
    onEditing(false);
    requestAnimationFrame(() => {
      // Do not take the focus back if it has moved to another field.
      if (document.activeElement === document.body) opener.current?.focus({ preventScroll: true });
    });
  };
  if (isEditing) {
    return (
      <>
        <h1 className={hidden.unseen}>{shownTitle(title)}</h1>
        <TitleField title={title} rename={rename} onEnd={end} />
      </>
    );
  }
  return (
    <h1 className={classes.title} dir="auto">
      <UnstyledButton
        ref={opener}
        className={classes.titleButton}
        onClick={() => onEditing(true)}
        aria-description="Click to rename"
      >
        {shownTitle(rename.isPending ? rename.variables : title)}
        <IconPencil size={16} aria-hidden className={classes.pencil} />
      </UnstyledButton>
    </h1>
  );
}

function TitleField({
  title,
  rename,
  onEnd,
}: Pick<ThreadTitleProps, 'title' | 'rename'> & { onEnd: () => void }) {
  const [text, setText] = useState(title);
  const isCancelled = useRef(false);
  const { titleLengthMax } = useLimits();
  const problem = titleProblem(text, titleLengthMax);
  const save = () => {
    if (problem !== null) return;
    if (text.trim() === title) onEnd();
    else rename.mutate(text.trim(), { onSuccess: onEnd });
  };
  const cancel = () => {
    isCancelled.current = true;
    rename.reset();
    onEnd();
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    cancel();
  };
  const left = (event: FocusEvent<HTMLFormElement>) => {
    if (event.currentTarget.contains(event.relatedTarget) || isCancelled.current || rename.isPending) return;
    // If another window took the focus, keep editing until the person returns.
    if (document.hasFocus()) save();
  };
  return (
    <form
      className={classes.titleForm}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onBlur={left}
      onKeyDown={pressed}
    >
      <TextInput
        className={classes.titleField}
        aria-label="Thread title"
        dir="auto"
        data-autofocus
        autoFocus
        onFocus={(event) => event.currentTarget.select()}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        readOnly={rename.isPending}
        error={problem ?? (rename.isError ? failureText(rename.error) : null)}
      />
      <Group gap={4} wrap="nowrap">
        <ActionIcon type="submit" size="lg" loading={rename.isPending} aria-label="Save title">
          <IconCheck size={18} aria-hidden />
        </ActionIcon>
        <ActionIcon size="lg" variant="default" onClick={cancel} aria-label="Cancel renaming">
          <IconX size={18} aria-hidden />
        </ActionIcon>
      </Group>
    </form>
  );
}

/** Counts code points, like the service. */
function titleProblem(text: string, titleLengthMax: number): string | null {
  const length = [...text.trim()].length;
  if (length === 0) return 'Enter a title.';
  return length > titleLengthMax
    ? `Titles can have up to ${titleLengthMax} characters. This one has ${length}.`
    : null;
}
