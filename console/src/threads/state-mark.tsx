import { VisuallyHidden } from '@mantine/core';
import type { Json } from '../api/contract.ts';
import classes from './threads.module.css';

type State = Json<'threadRow'>['state'];

export const stateWords: Readonly<Record<State, string>> = {
  idle: 'Done',
  in_progress: 'Replying',
  error: 'Failed',
};

export function StateMark({ state }: { state: State }) {
  return (
    <span className={classes.state}>
      <span className={classes.dot} data-state={state} aria-hidden />
      {stateWords[state]}
    </span>
  );
}

/** Only the dot, where there is no room for words. */
export function StateDot({ state }: { state: State }) {
  return (
    <>
      <VisuallyHidden> {stateWords[state]}</VisuallyHidden>
      <span className={classes.dot} data-state={state} title={stateWords[state]} aria-hidden />
    </>
  );
}
