import { Collapse, Loader, UnstyledButton } from '@mantine/core';
import { IconCheck, IconMinus } from '@tabler/icons-react';
import { useEffect, useId, useState } from 'react';
import type { Json } from '../api/contract.ts';
import { Chevron } from '../app/chevron.tsx';
import { counted } from '../app/format-count.ts';
import { durationText, longDurationText, stepDurationsMs, totalMs } from './elapsed.ts';
import classes from './reply.module.css';
import { isRunning } from './thread-state.ts';

interface ReplyStepsProps {
  readonly reply: Json<'reply'>;
  readonly clockAheadMs: number | null;
}

/** The steps of a reply: a list while it is being written, one line when it has ended. Readers can switch. */
export function ReplySteps({ reply, clockAheadMs }: ReplyStepsProps) {
  const running = isRunning(reply);
  const [chosen, setChosen] = useState<boolean>();
  const opened = chosen ?? running;
  const list = useId();
  if (running && reply.steps.length === 0) return <Beginning reply={reply} clockAheadMs={clockAheadMs} />;
  if (reply.steps.length === 0) return null;
  return (
    <div className={classes.steps}>
      <UnstyledButton
        className={classes.stepsHead}
        onClick={() => setChosen(!opened)}
        aria-expanded={opened}
        aria-controls={list}
      >
        <Chevron opened={opened} />
        <span>{summarizeSteps(reply)}</span>
        {running && !opened && <Loader size={16} aria-hidden />}
      </UnstyledButton>
      <Collapse expanded={opened} id={list}>
        <Steps reply={reply} clockAheadMs={clockAheadMs} />
      </Collapse>
    </div>
  );
}

/** Shown before the first step. A model without steps starts with its text. */
function Beginning({ reply, clockAheadMs }: ReplyStepsProps) {
  return (
    <div className={classes.steps}>
      <div className={classes.step}>
        <Loader size={16} aria-hidden />
        <span className={classes.stepText}>{reply.content === '' ? 'Waiting to start' : 'Writing'}</span>
        <span className={classes.clock}>
          <RunningClock sinceMs={Date.parse(reply.createdAt)} clockAheadMs={clockAheadMs} />
        </span>
      </div>
    </div>
  );
}

function Steps({ reply, clockAheadMs }: ReplyStepsProps) {
  // The text below shows that the reply is being checked.
  const isThinking = reply.status === 'in_progress' && reply.content === '';
  const isWriting = reply.status === 'in_progress' && !isThinking;
  const durationsMs = stepDurationsMs(reply);
  return (
    <ol className={classes.stepList}>
      {reply.steps.map(({ description, elapsedMs }, at) => {
        const isCurrent = isThinking && at === reply.steps.length - 1;
        const durationMs = durationsMs[at] ?? null;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step is identified by its position; its text can repeat.
          <li key={at} className={classes.step}>
            <StepIcon isCurrent={isCurrent} isBroken={isBroken(reply, at)} />
            <span className={classes.stepText}>{description}</span>
            <span className={classes.clock}>
              {isCurrent && elapsedMs !== null ? (
                <RunningClock sinceMs={Date.parse(reply.createdAt) + elapsedMs} clockAheadMs={clockAheadMs} />
              ) : (
                durationMs !== null && longDurationText(durationMs)
              )}
            </span>
          </li>
        );
      })}
      {isWriting && (
        <li className={classes.step}>
          <StepIcon isCurrent isBroken={false} />
          <span className={classes.stepText}>Writing</span>
        </li>
      )}
    </ol>
  );
}

/** The step during which a reply failed or was stopped. */
function isBroken({ status, steps }: Json<'reply'>, at: number): boolean {
  return (status === 'failed' || status === 'cancelled') && at === steps.length - 1;
}

function StepIcon({ isCurrent, isBroken }: { isCurrent: boolean; isBroken: boolean }) {
  if (isCurrent) return <Loader size={16} aria-label="In progress" role="img" />;
  if (isBroken) return <IconMinus size={16} aria-label="Incomplete" />;
  return <IconCheck size={16} aria-label="Done" />;
}

/** `4 steps · 3.2 s` */
function summarizeSteps(reply: Json<'reply'>): string {
  const count = counted(reply.steps.length, 'step');
  const endMs = totalMs(reply);
  return endMs === null ? count : `${count} · ${durationText(endMs)}`;
}

interface RunningClockProps {
  /** A time by the service's clock. */
  readonly sinceMs: number;
  /** The service's clock minus the page's. */
  readonly clockAheadMs: number | null;
}

/** The time elapsed so far. Empty for the first second, and until the service has sent its clock. */
function RunningClock({ sinceMs, clockAheadMs }: RunningClockProps) {
  const [pageMs, setPageMs] = useState(() => performance.now());
  const elapsedMs = clockAheadMs === null ? null : pageMs + clockAheadMs - sinceMs;
  const isShort = elapsedMs !== null && elapsedMs < 10_000;
  useEffect(() => {
    const timer = setInterval(() => setPageMs(performance.now()), isShort ? 100 : 1_000);
    return () => clearInterval(timer);
  }, [isShort]);
  return elapsedMs === null ? null : longDurationText(elapsedMs);
}
