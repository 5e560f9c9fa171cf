import { type ApplicationRouteOptions, applicationRoutes } from './application-routes.ts';
import { auditRoutes } from './audit-routes.ts';
import { type DocumentRouteOptions, documentRoutes } from './document-routes.ts';
import { type KeyRouteOptions, keyRoutes } from './key-routes.ts';
import { type MemberRouteOptions, memberRoutes } from './member-routes.ts';
import type { ConsoleRoute } from './route.ts';
import { usageRoutes } from './usage-routes.ts';

export type SettingRouteOptions = ApplicationRouteOptions &
  DocumentRouteOptions &
  KeyRouteOptions &
  MemberRouteOptions;

/** What the pages under Settings ask for. */
export function settingRoutes(options: SettingRouteOptions): readonly ConsoleRoute[] {
  return [
    ...keyRoutes(options),
    ...applicationRoutes(options),
    ...memberRoutes(options),
    ...documentRoutes(options),
    ...usageRoutes,
    ...auditRoutes,
  ];
}
