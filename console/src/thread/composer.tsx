import { Button, Text, Textarea } from '@mantine/core';
import { IconArrowUp, IconPlayerStopFilled } from '@tabler/icons-react';
import { type KeyboardEvent, type Ref, useId, useLayoutEffect, useRef, useState } from 'react';
import { formatNumber } from '../app/format-count.ts';
import { useLimits } from '../app/session.tsx';
import { endTypeAhead } from '../app/type-ahead.ts';
import classes from './composer.module.css';
import { useDraft } from './draft.ts';

interface ComposerProps {
  /**
   * The key under which the draft is stored: see `buildDraftName`. For another draft, also give the component another
   * `key`.
   */
  readonly draftName: string;
  /** The label of the field. */
  readonly label: string;
  /** Whether the label is only read by screen readers. */
  readonly compact?: boolean;
  readonly placeholder?: string;
  /** The label of the button. */
  readonly sendLabel?: string;
  readonly sending?: boolean;
  /** A reply is being written: the draft can be edited now and sent later. */
  readonly running?: boolean;
  readonly onStop?: () => Promise<unknown>;
  readonly autoFocus?: boolean;
  readonly fieldRef?: Ref<HTMLTextAreaElement>;
  /** The draft is removed when this resolves and kept when it rejects. The caller reports the error. */
  readonly onSend: (prompt: string) => Promise<unknown>;
}

/** A field that grows with its text. Enter sends, Shift + Enter starts a new line. On a phone, Enter starts a new line. */
export function Composer(props: ComposerProps) {
  const {
    draftName,
    label,
    compact = false,
    placeholder,
    autoFocus = false,
    running = false,
    onSend,
  } = props;
  const [text, setText, forget] = useDraft(draftName);
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const hint = useId();
  const busy = isSending || props.sending === true;
  const { promptLengthMax } = useLimits();
  const excess = promptExcess(text, promptLengthMax);
  const canSend = text.trim() !== '' && excess === 0 && !running && !busy;

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, before the router ends it because the page is shown.
  useLayoutEffect(() => {
    // On a phone, the keyboard would cover half of the page.
    if (!autoFocus || isTouch()) return;
    field.current?.focus({ preventScroll: true });
    const typed = endTypeAhead();
    if (typed !== '') setText(text + typed);
  }, [autoFocus]);

  const send = () => {
    if (!canSend) return;
    setSending(true);
    field.current?.focus({ preventScroll: true });
    onSend(text)
      .then(forget, () => undefined)
      .finally(() => setSending(false));
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    if (isTouch() && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    send();
  };

  return (
    <div className={classes.composer}>
      <Textarea
        ref={(element) => {
          field.current = element;
          if (typeof props.fieldRef === 'function') props.fieldRef(element);
          else if (props.fieldRef) props.fieldRef.current = element;
        }}
        {...(compact ? { 'aria-label': label } : { label })}
        {...(placeholder !== undefined && { placeholder })}
        variant="unstyled"
        dir="auto"
        classNames={{ input: classes.field, label: classes.label }}
        autosize
        minRows={compact ? 1 : 4}
        maxRows={14}
        aria-describedby={hint}
        aria-invalid={excess > 0}
        readOnly={busy}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={pressed}
      />
      <div className={classes.row}>
        <Text
          id={hint}
          size="xs"
          c={excess > 0 ? 'var(--mantine-color-error)' : 'dimmed'}
          className={classes.hint}
        >
          <Hint running={running} excess={excess} />
        </Text>
        {running && props.onStop ? (
          <StopButton onStop={props.onStop} then={() => field.current?.focus({ preventScroll: true })} />
        ) : (
          <Button
            size="sm"
            onClick={send}
            loading={busy}
            // Not `disabled`: a button that cannot be focused cannot explain why.
            aria-disabled={!canSend}
            {...(!canSend && { 'data-disabled': true })}
            rightSection={<IconArrowUp size={16} aria-hidden />}
          >
            {props.sendLabel ?? 'Send'}
          </Button>
        )}
      </div>
    </div>
  );
}

function Hint({ running, excess }: { running: boolean; excess: number }) {
  const { promptLengthMax } = useLimits();
  if (excess > 0) {
    const most = formatNumber(promptLengthMax);
    return (
      <>
        Prompts can have up to {most} characters. Remove {formatNumber(excess)} to send.
      </>
    );
  }
  if (running) return <>A reply is in progress. You can send when it finishes. Your draft is saved.</>;
  return <span className={classes.keys}>Enter to send, Shift + Enter for a new line</span>;
}

function StopButton({ onStop, then }: { onStop: () => Promise<unknown>; then: () => void }) {
  const [isStopping, setStopping] = useState(false);
  const stop = () => {
    setStopping(true);
    then();
    onStop().catch(() => setStopping(false));
  };
  return (
    <Button
      size="sm"
      variant="default"
      onClick={stop}
      loading={isStopping}
      leftSection={<IconPlayerStopFilled size={14} aria-hidden />}
    >
      Stop
    </Button>
  );
}

/** Counts code points, like the service. */
function promptExcess(text: string, promptLengthMax: number): number {
  if (text.length <= promptLengthMax) return 0;
  return Math.max(0, [...text].length - promptLengthMax);
}

/** A phone or tablet, where Enter starts a new line. */
export function isTouch(): boolean {
  return matchMedia('(hover: none) and (pointer: coarse)').matches;
}
