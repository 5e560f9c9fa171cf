import { ServiceError } from '../../domain/errors.ts';
import { iso } from '../../domain/iso-time.ts';
import type { Context } from '../context.ts';
import { type EnteredSession, isSessionValid } from '../people/sessions.ts';
import { nextTurn } from '../turns.ts';
import { type AuditSearch, actorName, listAudit, targetName } from './audit-log.ts';

const pagesMax = 200;
const pageSize = 500;

const headings = ['time', 'actor', 'action', 'target_id', 'target', 'details', 'trace_id'];

/**
 * The entries that match, newest first, as CSV (RFC 4180). Each piece is loaded when the one before it was read. Rejects
 * once the session is no longer that of an admin. The last line says so if the export is incomplete.
 */
export async function* exportAudit(
  context: Context,
  session: Pick<EnteredSession, 'tokenHash' | 'principal'>,
  search: AuditSearch,
  pages = pagesMax,
): AsyncGenerator<Buffer> {
  const { organizationId } = session.principal;
  yield Buffer.from(csvLine(headings));
  let cursor: string | null = null;
  for (let index = 0; index < pages; index += 1) {
    // A page without matches yields nothing, so it needs a turn of its own.
    await nextTurn(organizationId);
    if (!(await isSessionValid(context, session, 'admin')))
      throw new ServiceError('FORBIDDEN', 'The session ended during the export.');
    const page: Awaited<ReturnType<typeof listAudit>> = await listAudit(context, organizationId, {
      ...search,
      limit: pageSize,
      ...(cursor !== null && { cursor }),
    });
    const lines = page.events.map((event) => {
      const { at, action, subject, detail, traceId } = event;
      const target = targetName(event) ?? '';
      return csvLine([iso(at), actorName(event), action, subject, target, JSON.stringify(detail), traceId]);
    });
    yield Buffer.from(lines.join(''));
    cursor = page.nextCursor;
    if (cursor === null) return;
  }
  yield Buffer.from(csvLine(['Incomplete: choose fewer days to export older entries.']));
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Quoted. A spreadsheet would run a cell that starts like a formula, so such a cell starts with an apostrophe. */
function csvCell(text: string): string {
  const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
