import { CloseButton } from '@mantine/core';
import { IconCircleCheckFilled, IconCircleDashed } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { Json } from '../api/contract.ts';
import hidden from '../thread/unseen.module.css';
import classes from './first-minutes.module.css';

interface FirstStepsProps {
  readonly steps: Json<'firstSteps'>;
  readonly onDismiss: () => void;
}

/** What the admin of a new organization can do next. */
export function FirstSteps({ steps, onDismiss }: FirstStepsProps) {
  const list = [
    { done: steps.hasDocument, label: 'Add a document', to: '/settings/documents' },
    { done: steps.asked, label: 'Ask a question', to: '/new' },
    { done: steps.hasKey, label: 'Create an API key', to: '/settings/keys' },
    { done: steps.hasInvited, label: 'Invite a colleague', to: '/settings/members' },
  ] as const;
  const doneCount = list.filter(({ done }) => done).length;
  return (
    <section className={classes.steps} aria-labelledby="first-steps">
      <div className={classes.stepsHead}>
        <h2 id="first-steps" className={classes.heading}>
          Get started
        </h2>
        <span className={classes.count}>
          {doneCount} of {list.length} done
        </span>
        <CloseButton size="sm" aria-label="Dismiss the checklist" onClick={onDismiss} />
      </div>
      <ol className={classes.stepList}>
        {list.map(({ done, label, to }) => (
          <li key={to} data-done={done || undefined}>
            {done ? (
              <IconCircleCheckFilled size={18} aria-hidden />
            ) : (
              <IconCircleDashed size={18} aria-hidden />
            )}
            {done || to === '/new' ? <span>{label}</span> : <Link to={to}>{label}</Link>}
            {done && <span className={hidden.unseen}>(done)</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}

export function isComplete({ asked, hasDocument, hasKey, hasInvited }: Json<'firstSteps'>): boolean {
  return asked && hasDocument && hasKey && hasInvited;
}
