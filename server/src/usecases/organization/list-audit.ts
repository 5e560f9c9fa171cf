import type { AuditEvent } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { OrganizationId } from '../../domain/id.ts';
import type { AuditPosition } from '../../storage/store.ts';
import type { Context } from '../context.ts';

export interface AuditPage {
  readonly events: readonly AuditEvent[];
  readonly nextCursor: string | null;
}

/** Newest first: who did what when. With a trace id, what one request or command did. */
export async function listAudit(
  { store, seal }: Context,
  organizationId: OrganizationId,
  { traceId, cursor, limit }: { traceId?: string; cursor?: string; limit: number },
): Promise<AuditPage> {
  const listing = JSON.stringify(['audit', organizationId, traceId ?? null]);
  const before = cursor === undefined ? undefined : readPosition(seal.open(listing, cursor));
  if (cursor !== undefined && before === undefined) {
    throw new ServiceError('INVALID_PARAMS', 'cursor: is not one that this listing returned.');
  }
  const found = await store.listAudit(organizationId, {
    // One more tells whether there are more.
    limit: limit + 1,
    ...(before && { before }),
    ...(traceId !== undefined && { traceId }),
  });
  const events = found.slice(0, limit);
  const last = events.at(-1);
  const more = found.length > limit && last !== undefined;
  return { events, nextCursor: more ? seal.seal(listing, `${last.at}|${last.id}`) : null };
}

function readPosition(text: string | undefined): AuditPosition | undefined {
  const [at, id] = text?.split('|') ?? [];
  return at === undefined || id === undefined ? undefined : { at: Number(at), id };
}
