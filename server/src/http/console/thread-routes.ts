import type { ConsoleOptions } from './options.ts';
import type { ConsoleRoute } from './route.ts';
import { threadChangeRoutes } from './thread-change-routes.ts';
import { threadReadRoutes } from './thread-read-routes.ts';

export function threadRoutes(options: ConsoleOptions): readonly ConsoleRoute[] {
  return [...threadReadRoutes(options), ...threadChangeRoutes(options)];
}
