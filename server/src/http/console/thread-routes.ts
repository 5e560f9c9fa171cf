import type { ConsoleOptions } from './options.ts';
import type { ConsoleRoute } from './route.ts';

export function threadRoutes(_options: ConsoleOptions): readonly ConsoleRoute[] {
  return [];
}
