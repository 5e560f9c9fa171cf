import { Button, Loader } from '@mantine/core';
import { IconArrowDown } from '@tabler/icons-react';
import { type Ref, useEffect, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { ApiError } from '../api/request.ts';
import { Failure } from '../app/failure.tsx';
import { Composer } from './composer.tsx';
import { forgetDraft } from './draft.ts';
import classes from './thread.module.css';
import type { ThreadChanges } from './thread-changes.ts';
import type { FollowedEnd } from './use-follow-end.ts';

interface ThreadDockProps {
  /** Null on another person's thread, where nothing can be written. */
  readonly draftName: string | null;
  readonly view: Json<'threadView'>;
  readonly changes: ThreadChanges;
  readonly isRunning: boolean;
  readonly isLive: boolean;
  readonly end: FollowedEnd;
  readonly fieldRef: Ref<HTMLTextAreaElement>;
}

/** The bar at the bottom of the window. */
export function ThreadDock({ draftName, view, changes, isRunning, isLive, end, fieldRef }: ThreadDockProps) {
  // The person who just created the thread keeps the focus in the field.
  const [wasRunning] = useState(isRunning);
  const [forgotten, setForgotten] = useState(0);
  useArrivedPrompt(view, changes.send, (prompt) => {
    if (draftName !== null && forgetDraft(draftName, prompt)) setForgotten(forgotten + 1);
  });
  const send = async (prompt: string) => {
    changes.stop.reset();
    await changes.send.mutateAsync(prompt);
    // Scroll after the prompt has been rendered.
    requestAnimationFrame(end.toEnd);
  };
  return (
    <div className={classes.dock} data-empty={draftName === null || undefined}>
      <div className={classes.notes}>
        <Reconnecting isLive={isLive} />
        {end.isAway && (
          <Button
            size="xs"
            variant="default"
            radius="xl"
            className={classes.note}
            leftSection={<IconArrowDown size={16} aria-hidden />}
            onClick={end.toEnd}
          >
            Jump to latest
          </Button>
        )}
      </div>
      {draftName !== null && (
        <>
          <DockFailure error={changes.send.error} title="Couldn’t send the prompt" />
          <DockFailure error={changes.stop.error} title="Couldn’t stop the reply" />
          <Composer
            key={`${draftName} ${forgotten}`}
            draftName={draftName}
            label="Follow-up prompt"
            compact
            placeholder="Ask a follow-up"
            running={isRunning}
            onStop={() => changes.stop.mutateAsync()}
            onSend={send}
            fieldRef={fieldRef}
            autoFocus={wasRunning || forgotten > 0}
          />
        </>
      )}
    </div>
  );
}

function DockFailure({ error, title }: { error: Error | null; title: string }) {
  if (error === null) return null;
  return (
    <div className={classes.failure}>
      <Failure error={error} title={title} />
    </div>
  );
}

const lateAfterMs = 2_000;

/** Short interruptions are not reported. */
function Reconnecting({ isLive }: { isLive: boolean }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (isLive) return;
    const timer = setTimeout(() => setLate(true), lateAfterMs);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [isLive]);
  if (!isLate) return null;
  return (
    <div className={classes.reconnecting} data-testid="reconnecting">
      <Loader size={12} aria-hidden /> Reconnecting…
    </div>
  );
}

/** If the response to a prompt was lost, the thread shows whether the prompt arrived. */
function useArrivedPrompt(
  { messages }: Json<'threadView'>,
  send: ThreadChanges['send'],
  onArrived: (prompt: string) => void,
): void {
  const { error, variables: prompt, context, reset } = send;
  const isUnsure = error instanceof ApiError && (error.status === 0 || error.status >= 500);
  const known = context?.knownMessages ?? messages.length;
  const hasArrived =
    isUnsure && messages.slice(known).some(({ role, content }) => role === 'user' && content === prompt);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a prompt arrives once; the callback changes every time.
  useEffect(() => {
    if (!hasArrived || prompt === undefined) return;
    reset();
    onArrived(prompt);
  }, [hasArrived, prompt, reset]);
}
