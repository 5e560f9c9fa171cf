import type { OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';

export interface ThreadRow {
  organization_id: OrganizationId;
  id: ThreadId;
  user_id: UserId;
  title: string;
  account_id: string | null;
  secondary_id: string | null;
  created_at: number;
  updated_at: number | null;
  published: boolean;
  deleted_at: number | null;
}

export const threadColumns = `thread.organization_id, thread.id, thread.user_id, thread.title, thread.account_id,
  thread.secondary_id, thread.created_at, thread.updated_at, thread.published, thread.deleted_at`;

export function toThread(row: ThreadRow): Thread {
  return {
    organizationId: row.organization_id,
    id: row.id,
    userId: row.user_id,
    title: row.title,
    accountId: row.account_id,
    secondaryId: row.secondary_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    published: row.published,
    deletedAt: row.deleted_at,
  };
}
