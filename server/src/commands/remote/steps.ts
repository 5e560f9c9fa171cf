import { printable } from '../command.ts';
import { LiveLine } from './live-line.ts';
import { isLive, type Terminal } from './terminal.ts';

/** Shows the steps of a running reply. */
export interface StepsView {
  /** Undefined if steps are not shown: the client then polls less often. */
  readonly onStep: ((step: { readonly description: string }) => void) | undefined;
  end(): void;
}

/** A status line on a terminal; with `verbose`, one line per step on any output. */
export function viewSteps(terminal: Terminal, verbose: boolean): StepsView {
  if (verbose) {
    const onStep = ({ description }: { description: string }) => {
      terminal.stderr.write(`${printable(description)}\n`);
    };
    return { onStep, end: () => {} };
  }
  if (!isLive(terminal)) return { onStep: undefined, end: () => {} };
  const line = new LiveLine(terminal.stderr, 'Waiting for the reply');
  return { onStep: ({ description }) => line.show(description), end: () => line.end() };
}
