import type { AuditAction, AuditDetail, AuditEvent, Initiator } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { AuditNote, AuditPosition } from '../../storage/store.ts';
import type { Context } from '../context.ts';

export interface AuditPage {
  readonly events: readonly AuditEvent[];
  readonly nextCursor: string | null;
}

/** Newest first. With a trace id: only what that request or command did. */
export async function listAudit(
  { store, seal }: Context,
  organizationId: OrganizationId,
  { traceId, cursor, limit }: { traceId?: string | undefined; cursor?: string; limit: number },
): Promise<AuditPage> {
  const listing = JSON.stringify(['audit', organizationId, traceId ?? null]);
  const before = cursor === undefined ? undefined : readPosition(seal.open(listing, cursor));
  if (cursor !== undefined && before === undefined) {
    throw new ServiceError('INVALID_PARAMS', 'cursor: was not returned by this listing.');
  }
  const found = await store.listAudit(organizationId, {
    // One extra row shows whether there is another page.
    limit: limit + 1,
    ...(before && { before }),
    ...(traceId !== undefined && { traceId }),
  });
  const events = found.slice(0, limit);
  const last = events.at(-1);
  const more = found.length > limit && last !== undefined;
  return { events, nextCursor: more ? seal.seal(listing, `${last.at}|${last.id}`) : null };
}

/** The display name of the event's actor. */
export function actorName({ actor, actorEmail }: AuditEvent): string {
  switch (actor.kind) {
    case 'user':
      return actorEmail ?? actor.userId;
    case 'operator':
      return 'Operator';
    case 'skein':
      return 'Skein';
  }
}

/** A change in an organization, and who makes it. The calls of commands and of console routes have these fields. */
export interface Change {
  readonly context: Context;
  readonly organizationId: OrganizationId;
  readonly initiator: Initiator;
}

/** A change that a user makes. The calls of console routes have these fields. */
export interface UserChange {
  readonly context: Context;
  readonly principal: UserPrincipal;
  readonly initiator: Initiator;
}

/** The audit entry that the store writes in the same commit as the change. */
export function auditNote(
  { ids }: Pick<Context, 'ids'>,
  { actor, traceId }: Initiator,
  action: AuditAction,
  subject: string,
  detail: AuditDetail = {},
): AuditNote {
  return { id: ids.event(), actor, traceId, action, subject, detail };
}

/** For commands on the store. All changes of one command share one trace id. */
export function operatorInitiator({ ids }: Pick<Context, 'ids'>): Initiator {
  return { actor: { kind: 'operator' }, traceId: ids.event() };
}

/** Adds a `skein` command to an error message if the operator will read it; other actors cannot run it. */
export function withCommand({ actor }: Initiator, fact: string, command: string): string {
  return actor.kind === 'operator' ? `${fact}: ${command}.` : `${fact}.`;
}

function readPosition(text: string | undefined): AuditPosition | undefined {
  const [at, id] = text?.split('|') ?? [];
  return at === undefined || id === undefined ? undefined : { at: Number(at), id };
}
