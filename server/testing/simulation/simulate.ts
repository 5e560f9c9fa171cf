import { pickAction } from './actions.ts';
import { crashNode } from './faults.ts';
import { replyEnded } from './holders.ts';
import { type RunOptions, type RunResult, World } from './world.ts';

/** Runs the world of one seed. */
export function simulate(options: RunOptions): Promise<RunResult> {
  return new World(options, { pickAction, replyEnded, crashNode }).run();
}
