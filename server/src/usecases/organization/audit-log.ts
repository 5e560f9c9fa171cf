import { nextTurn } from '../../../../runtime/src/turns.ts';
import type { AuditAction, AuditDetail, AuditEvent, Initiator } from '../../domain/audit.ts';
import type { AnyAuthority, OperatorAuthority, PersonAuthority } from '../../domain/authority.ts';
import { type LogPosition, openCursor, sealCursor } from '../../domain/cursor.ts';
import { notFound, type ServiceError } from '../../domain/errors.ts';
import { iso } from '../../domain/time.ts';
import type { AuditNote, AuditQuery } from '../../storage/port/store.ts';
import type { Context, OrganizationCall, PersonCall } from '../context.ts';

export interface AuditSearch extends Pick<AuditQuery, 'actor' | 'action' | 'traceId'> {
  /** In milliseconds, both included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Newest first. With filters, a page may be short or empty although more follow: a search is bounded. */
export async function listAudit(
  { context: { store, seal }, organizationId }: OrganizationCall,
  { cursor, limit, ...search }: AuditSearch & { cursor?: string | undefined; limit: number },
): Promise<{ events: AuditEvent[]; nextCursor: string | null }> {
  const { traceId, actor, action, from = 0, to = Number.MAX_SAFE_INTEGER - 1 } = search;
  const listing = ['audit', organizationId, traceId, actor, action, from, to];
  const before = openCursor<LogPosition>(seal, listing, cursor) ?? { at: to + 1, id: '' };
  // One extra entry shows whether there is another page.
  const page = { before, since: from, limit: limit + 1 };
  const { events, searched } = await store.listAudit(organizationId, { ...page, actor, action, traceId });
  const last = events.length > limit ? events[limit - 1]! : searched;
  const nextCursor = last && sealCursor(seal, listing, { at: last.at, id: last.id });
  return { events: events.slice(0, limit), nextCursor };
}

export function targetName({ subject, subjectEmail, detail }: AuditEvent): string | null {
  const named = detail.name ?? detail.title;
  if (subject.startsWith('usr_'))
    return subjectEmail ?? (typeof detail.email === 'string' ? detail.email : null);
  return typeof named === 'string' && named !== '' ? named : null;
}

export function actorName({ actor, actorEmail }: AuditEvent): string {
  if (actor.kind === 'user') return actorEmail ?? actor.userId;
  return actor.kind === 'operator' ? 'Operator' : 'Skein';
}

export interface Change extends OrganizationCall {
  readonly initiator: Initiator;
}

export interface UserChange extends PersonCall {
  readonly initiator: Initiator<PersonAuthority>;
}

/** The audit entry that the store writes in the same commit as the change. */
export function auditNote<A extends AnyAuthority>(
  { context, initiator }: { context: Pick<Context, 'ids'>; initiator: Initiator<A> },
  action: AuditAction,
  subject: string,
  detail: AuditDetail = {},
): AuditNote<A> {
  return { id: context.ids.event(), ...initiator, action, subject, detail };
}

/** For commands on the store. All changes of one command share one trace ID. */
export function operatorInitiator({ ids }: Pick<Context, 'ids'>): Initiator<OperatorAuthority> {
  return { authority: { kind: 'operator' }, traceId: ids.event() };
}

/** Adds a `skein` command to an error message if the operator will read it; other actors cannot run it. */
export function withCommand({ authority }: Initiator, fact: string, command: string): string {
  return authority.kind === 'operator' ? `${fact}: ${command}.` : `${fact}.`;
}

/** The error for an id that the organization does not have. `thing` is as in `document doc_1`. */
export function missingIn(
  { organizationId, initiator }: Pick<Change, 'organizationId' | 'initiator'>,
  thing: string,
  commands: 'app' | 'doc' | 'key',
): ServiceError {
  const command = `run 'skein ${commands} list ${organizationId}' to see those it has`;
  return notFound(withCommand(initiator, `The organization has no ${thing}`, command));
}

const pagesMax = 200;
const pageSize = 500;

const headings = ['time', 'actor', 'action', 'target_id', 'target', 'details', 'trace_id'];

/** Newest first, as CSV (RFC 4180), in pages. The last line says if it is incomplete. */
export async function* exportAudit(
  call: OrganizationCall,
  search: AuditSearch,
  pages = pagesMax,
): AsyncGenerator<Buffer> {
  yield Buffer.from(csvLine(headings));
  let cursor: string | undefined;
  for (let index = 0; index < pages; index += 1) {
    // A page without matches yields nothing, so it needs a turn of its own.
    await nextTurn(call.organizationId);
    const { events, nextCursor } = await listAudit(call, { ...search, limit: pageSize, cursor });
    const lines = events.map((event) => {
      const { at, action, subject, detail, traceId } = event;
      const target = targetName(event) ?? '';
      return csvLine([iso(at), actorName(event), action, subject, target, JSON.stringify(detail), traceId]);
    });
    yield Buffer.from(lines.join(''));
    if (nextCursor === null) return;
    cursor = nextCursor;
  }
  yield Buffer.from(csvLine(['Incomplete: choose fewer days to export older entries.']));
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Quotes a cell. Spreadsheets would run one that starts like a formula, so it gets an apostrophe in front. */
function csvCell(text: string): string {
  const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
