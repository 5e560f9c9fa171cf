import { ActionIcon, Button, Group, Textarea, Tooltip } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { Failure } from '../app/failure.tsx';
import { formatNumber } from '../app/format-count.ts';
import { useLimits } from '../app/session.tsx';
import { isTouch } from './composer.tsx';
import classes from './prompt.module.css';
import hidden from './unseen.module.css';
import { type VersionChoice, VersionPager } from './version-pager.tsx';

const lengthMax = 1_200;
const linesMax = 14;

interface PromptProps {
  readonly prompt: Json<'userMessage'>;
  readonly author: string;
  readonly version: VersionChoice;
  /** Undefined unless the person can edit it: the last prompt of their own thread, while no reply is being written. */
  readonly onEdit: ((prompt: string, replaces: string) => Promise<unknown>) | undefined;
}

/** Only the beginning of a very long prompt is shown, because readers look for the replies. */
export function Prompt({ prompt, author, version, onEdit }: PromptProps) {
  const [isEditing, setEditing] = useState(false);
  const pencil = useRef<HTMLButtonElement>(null);
  const close = () => {
    setEditing(false);
    requestAnimationFrame(() => pencil.current?.focus());
  };
  return (
    <article className={classes.prompt} data-testid="prompt">
      <h2 className={hidden.unseen}>{author} asked</h2>
      {isEditing && onEdit !== undefined ? (
        <PromptEditor
          text={prompt.content}
          onCancel={close}
          onSend={(text) => onEdit(text, prompt.id).then(() => setEditing(false))}
        />
      ) : (
        <>
          <PromptText content={prompt.content} />
          <div className={classes.actions}>
            {onEdit !== undefined && (
              <Tooltip label="Edit prompt">
                <ActionIcon
                  ref={pencil}
                  variant="subtle"
                  color="gray"
                  aria-label="Edit prompt"
                  onClick={() => setEditing(true)}
                >
                  <IconPencil size={16} aria-hidden />
                </ActionIcon>
              </Tooltip>
            )}
            <VersionPager of="prompt" version={version} />
          </div>
        </>
      )}
    </article>
  );
}

function PromptText({ content }: { content: string }) {
  const isLong = content.length > lengthMax || content.split('\n', linesMax + 1).length > linesMax;
  const [isWhole, setWhole] = useState(false);
  return (
    <div className={classes.bubble}>
      <div className={classes.text} data-cut={(isLong && !isWhole) || undefined}>
        {content}
      </div>
      {isLong && (
        <Button
          size="compact-sm"
          variant="subtle"
          mt={4}
          onClick={() => setWhole(!isWhole)}
          aria-expanded={isWhole}
        >
          {isWhole ? 'Show less' : 'Show all'}
        </Button>
      )}
    </div>
  );
}

interface PromptEditorProps {
  readonly text: string;
  readonly onCancel: () => void;
  readonly onSend: (text: string) => Promise<unknown>;
}

/** Enter sends, Shift + Enter starts a new line, Escape cancels. On a phone, Enter starts a new line. */
function PromptEditor({ text, onCancel, onSend }: PromptEditorProps) {
  const [draft, setDraft] = useState(text);
  const field = useRef<HTMLTextAreaElement>(null);
  const { promptLengthMax } = useLimits();
  const sending = useMutation({ mutationFn: onSend });
  const isTooLong = draft.length > promptLengthMax && [...draft].length > promptLengthMax;
  const canSend = draft.trim() !== '' && !isTooLong && !sending.isPending;
  useEffect(() => {
    const { current } = field;
    current?.focus({ preventScroll: true });
    current?.setSelectionRange(current.value.length, current.value.length);
  }, []);
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') onCancel();
    if (event.key !== 'Enter' || event.shiftKey || isTouch()) return;
    event.preventDefault();
    if (canSend) sending.mutate(draft);
  };
  return (
    <div className={classes.editor}>
      <Textarea
        ref={field}
        aria-label="Edit prompt"
        autosize
        minRows={2}
        maxRows={14}
        dir="auto"
        value={draft}
        readOnly={sending.isPending}
        error={isTooLong && `Prompts can have up to ${formatNumber(promptLengthMax)} characters.`}
        onChange={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={pressed}
      />
      {sending.isError && <Failure error={sending.error} title="Couldn’t send the prompt" />}
      <Group gap="xs" justify="flex-end" mt="xs">
        <Button size="xs" variant="default" onClick={onCancel} disabled={sending.isPending}>
          Cancel
        </Button>
        <Button
          size="xs"
          loading={sending.isPending}
          disabled={!canSend}
          onClick={() => sending.mutate(draft)}
        >
          Send
        </Button>
      </Group>
    </div>
  );
}
