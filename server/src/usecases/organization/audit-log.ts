import { nextTurn } from '../../../../runtime/src/turns.ts';
import type { AuditAction, AuditDetail, AuditEvent } from '../../domain/audit.ts';
import { type LogPosition, openCursor, type Seal, sealCursor } from '../../domain/cursor.ts';
import type { IdGenerator, OrganizationId } from '../../domain/id.ts';
import { iso, utcDate, utcDay } from '../../domain/time.ts';
import type { AuditQuery, Store } from '../../storage/port/store.ts';
import { auditNote, type Change } from '../audit-note.ts';
import type { Authorize } from '../authorize.ts';

export interface AuditSearch extends Pick<AuditQuery, 'actor' | 'action' | 'traceId'> {
  /** In milliseconds, both included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

interface AuditLogNeeds {
  readonly store: Pick<Store, 'listAudit' | 'writeAudit'>;
  readonly ids: Pick<IdGenerator, 'event'>;
  readonly seal: Seal;
  readonly authorize: Authorize;
}

export type AuditLog = ReturnType<typeof createAuditLog>;

export function createAuditLog({ store, ids, seal, authorize }: AuditLogNeeds) {
  return { list, exportCsv, record, recordExport };

  /** Newest first. With filters, a page may be short or empty although more follow: a search is bounded. */
  async function list(
    organizationId: OrganizationId,
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

  /** Newest first, as CSV (RFC 4180), in pages. The last line says if it is incomplete. */
  async function* exportCsv(
    organizationId: OrganizationId,
    search: AuditSearch,
    pages = pagesMax,
  ): AsyncGenerator<Buffer> {
    yield Buffer.from(csvLine(headings));
    let cursor: string | undefined;
    for (let index = 0; index < pages; index += 1) {
      // A page without matches yields nothing, so it needs a turn of its own.
      await nextTurn(organizationId);
      const { events, nextCursor } = await list(organizationId, { ...search, limit: pageSize, cursor });
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

  /** Writes an audit entry for an action that changes no row, before it is done. */
  async function record(
    { organizationId, initiator }: Change,
    action: AuditAction,
    subject: string,
    detail?: AuditDetail,
  ): Promise<void> {
    const note = auditNote(ids, initiator, action, subject, detail);
    await authorize(note.authority, store.writeAudit(organizationId, note));
  }

  /** Written before the first page, which may show it. Filters other than days are left out: they may name a person. */
  function recordExport(change: Change, { from, to }: Pick<AuditSearch, 'from' | 'to'>): Promise<void> {
    const days = { from: formatDay(from), to: formatDay(to) };
    return record(change, 'audit.exported', change.organizationId, days);
  }
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

const pagesMax = 200;
const pageSize = 500;

const headings = ['time', 'actor', 'action', 'target_id', 'target', 'details', 'trace_id'];

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Quotes a cell. Spreadsheets would run one that starts like a formula, so it gets an apostrophe in front. */
function csvCell(text: string): string {
  const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

function formatDay(at: number | undefined): string | null {
  return at === undefined ? null : utcDate(utcDay(at));
}
