import { printable } from '../command.ts';
import { LiveLine } from './live-line.ts';
import { isLive, type Terminal } from './terminal.ts';

/** How the steps of a reply are told while it is on its way. */
export interface StepsView {
  /** Undefined where nobody looks: the service is then asked less often. */
  readonly onStep: ((step: { readonly description: string }) => void) | undefined;
  end(): void;
}

/** On a terminal one line that changes; with `verbose`, wherever it is, a line for each. */
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
