import type { AuditEvent } from '../../domain/audit.ts';
import { iso } from '../../domain/iso-time.ts';
import { limits } from '../../domain/limits.ts';
import { actorName, listAudit } from '../../usecases/organization/audit-log.ts';
import { Type, text } from '../schema.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';
import { type AuditEventJson, auditSchema } from './setting-schemas.ts';

const defaultLimit = 50;

export const auditRoutes: readonly ConsoleRoute[] = [
  defineConsoleRoute({
    method: 'GET',
    url: '/audit',
    caller: 'admin',
    query: Type.Object({
      traceId: Type.Optional(text(1, 255)),
      cursor: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.pageSizeMax.default })),
    }),
    response: auditSchema,
    async handle({ context, principal, query: { limit = defaultLimit, ...query } }) {
      const { events, nextCursor } = await listAudit(context, principal.organizationId, { limit, ...query });
      return { events: events.map(presentEvent), nextCursor };
    },
  }),
];

function presentEvent(event: AuditEvent): AuditEventJson {
  const { id, at, action, subject, detail, traceId } = event;
  return { id, at: iso(at), actor: actorName(event), action, subject, detail, traceId };
}
