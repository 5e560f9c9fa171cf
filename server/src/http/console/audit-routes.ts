import { Type } from 'typebox';
import type { AuditEvent } from '../../domain/audit.ts';
import { iso } from '../../domain/iso-time.ts';
import { actorName, listAudit } from '../../usecases/organization/audit-log.ts';
import type { AuditEventJson, AuditJson } from './contract.ts';
import { type ConsoleRoute, defineConsoleRoute } from './route.ts';

const limitMax = 100;
const limitByDefault = 50;

export const auditRoutes: readonly ConsoleRoute[] = [
  defineConsoleRoute({
    method: 'GET',
    url: '/audit',
    caller: 'admin',
    query: Type.Object({
      traceId: Type.Optional(Type.String({ format: 'text', minLength: 1, maxLength: 255 })),
      cursor: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMax })),
    }),
    async handle({ context, principal, query: { limit = limitByDefault, ...query } }) {
      const { events, nextCursor } = await listAudit(context, principal.organizationId, { limit, ...query });
      return { body: { events: events.map(presentEvent), nextCursor } satisfies AuditJson };
    },
  }),
];

function presentEvent(event: AuditEvent): AuditEventJson {
  const { id, at, action, subject, detail, traceId } = event;
  return { id, at: iso(at), actor: actorName(event), action, subject, detail, traceId };
}
