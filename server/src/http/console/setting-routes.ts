import { applicationRoutes } from './application-routes.ts';
import { auditRoutes } from './audit-routes.ts';
import { documentRoutes } from './document-routes.ts';
import { keyRoutes } from './key-routes.ts';
import { memberRoutes } from './member-routes.ts';
import { modelRoutes } from './model-routes.ts';
import type { ConsoleOptions } from './options.ts';
import type { ConsoleRoute } from './route.ts';
import { usageRoutes } from './usage-routes.ts';

/** What the pages under Settings ask for. */
export function settingRoutes(options: ConsoleOptions): readonly ConsoleRoute[] {
  return [
    ...keyRoutes(options),
    ...applicationRoutes(options),
    ...memberRoutes(options),
    ...documentRoutes(options),
    ...modelRoutes(options),
    ...usageRoutes,
    ...auditRoutes,
  ];
}
