import type { OrganizationId } from '../../domain/id.ts';
import { iso } from '../../domain/iso-time.ts';
import type { Context } from '../context.ts';
import { type AuditSearch, actorName, listAudit, targetName } from './audit-log.ts';

/** An export has at most this many entries. */
const entriesMax = 100_000;
const pageSize = 500;

const headings = ['time', 'actor', 'action', 'target_id', 'target', 'details', 'trace_id'];

/** The entries that match, newest first, as CSV (RFC 4180). Each piece is loaded when the one before it was read. */
export async function* exportAudit(
  context: Context,
  organizationId: OrganizationId,
  search: AuditSearch,
): AsyncGenerator<Buffer> {
  yield Buffer.from(csvLine(headings));
  let cursor: string | null = null;
  for (let entries = 0; entries < entriesMax; entries += pageSize) {
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
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** Quoted. A spreadsheet would run a cell that starts like a formula, so such a cell starts with an apostrophe. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
