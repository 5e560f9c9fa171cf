/** A store as rows: `skein copy` reads them from one archive and writes them to another, whatever the engines. */
export interface Archive {
  /** Whether a thread's `sequence` is unique in the whole store or only in its organization. */
  readonly threadNumbers: 'store' | 'organization';
  count(table: ArchiveTable): Promise<number>;
  /** The next rows in key order; a passage with the `name` and `title` of its document and its `corpus`. One snapshot. */
  read(table: ArchiveTable, after: Row, limit: number): Promise<Row[]>;
  /** Whether no other process has the store open. */
  isAlone(): Promise<boolean>;
  close(): Promise<void>;
}

/** A store that is being filled. Between `begin` and `finish` it is marked as unfinished, and no process serves it. */
export interface ArchiveTarget extends Archive {
  /** Columns, as `table.column`, that this store computes instead of storing them. */
  readonly derived: ReadonlySet<string>;
  /** Whether an earlier copy into this store was interrupted. */
  isUnfinished(): Promise<boolean>;
  /** Empties the store and marks it as unfinished, in one transaction. */
  begin(): Promise<void>;
  /** Writes the rows in one transaction. `terms`: of passages. */
  write(table: ArchiveTable, rows: readonly Row[], terms?: Terms): Promise<void>;
  /** Continues numbers above those of the rows, and removes the mark. The whole copy is durable from here on. */
  finish(): Promise<void>;
}

/** The table that marks a store as an unfinished copy while it exists. */
export const unfinishedCopyTable = 'unfinished_copy';

export const unfinishedCopyFault = 'it is an unfinished copy: run skein copy again, which starts over';

/** PostgreSQL's names. The embedded store has other ones. */
export type ColumnType = 'text' | 'bigint' | 'boolean' | 'bytea';
export type Value = string | number | boolean | Uint8Array | null;
export type Row = Readonly<Record<string, Value>>;
/** The terms that each passage is found by, as they are indexed. */
export type Terms = readonly string[];

export interface ArchiveTable {
  readonly name: TableName;
  /** The columns that identify a row; an index has their order. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnType>>;
}

export type TableName = keyof typeof tables;

export class StoreInUse extends Error {}

/** Referenced tables first. The columns before the bar are the key. A column is a text unless its type follows it. */
const tables = {
  store_clock: 'only_row bigint | latest_at bigint, jump_at bigint, move_sequence bigint',
  secret: 'name | value bytea',
  signing_key: 'id | private_jwk, created_at bigint, retired_at bigint',
  user: 'id | email',
  organization: `id | name, api_enabled boolean, daily_quota bigint, created_at bigint, latest_at bigint,
    thread_sequence bigint, move_sequence bigint`,
  password: 'id | user_id, hash, proven boolean',
  member: 'organization_id, user_id | role, service boolean, joined_at bigint, opened_at bigint, password_id',
  identity: 'issuer, subject | user_id',
  invitation: `token_hash | organization_id, user_id, resets boolean, by_operator boolean, requested boolean,
    created_at bigint, expires_at bigint, mail_state, sealed_link, mail_due_at bigint, mail_attempts bigint`,
  session: 'token_hash | user_id, password_id, seen_at bigint, expires_at bigint, ends_at bigint',
  api_key: `hash | organization_id, id, user_id, name, hint, created_by, created_at bigint, revoked_at bigint`,
  key_request:
    'organization_id, id | user_id, name, state, requested_at bigint, decided_by, expires_at bigint',
  application: `id | organization_id, name, secret_hash, epoch bigint, created_at bigint, rotated_at bigint`,
  quota_use: 'organization_id, day bigint | used bigint',
  prompt_use: 'organization_id, period, user_id | started_at bigint, prompts bigint',
  audit_event: `organization_id, at bigint, id | actor_kind, actor_user_id, action, subject, detail, trace_id`,
  usage_day: 'organization_id, day bigint, credential_id, operation, outcome | requests bigint',
  request_block: 'organization_id, at bigint, id | first_at bigint, entries bigint, requests',
  traffic: 'organization_id, unit, period bigint, operation, outcome, bucket bigint | requests bigint',
  credential_use: 'organization_id, credential_id | last_used_at bigint',
  thread: `organization_id, id | sequence bigint, user_id, title, account_id, secondary_id, created_at bigint,
    updated_at bigint, activity_at bigint, published boolean, deleted_at bigint, version bigint`,
  listing_size: 'organization_id, user_id, account_key | threads bigint, published bigint',
  thread_move: 'organization_id, sequence bigint | thread_id, left_activity_at bigint, moved_at bigint',
  message: `organization_id, thread_id, id | role, content, created_at bigint, status, completed_at bigint, steps, sources,
    model, available_at bigint, claim_token bigint, attempts bigint, deadline_at bigint, trace_id, failure, held boolean,
    crashes bigint, verdict, replaces, unanswered_at bigint`,
  rating: 'organization_id, thread_id, message_id, user_id | value, comment, rated_at bigint',
  idempotency_key: `organization_id, user_id, key | body_hash, thread_id, message_id, reply_id, created_at bigint,
    expires_at bigint`,
  document: `organization_id, id | account_key, name, title, url, passages bigint, added_at bigint, state, kept_id,
    bytes bigint, questions`,
  corpus: 'organization_id, account_key | number bigint, passages bigint, stamp bigint',
  passage: 'organization_id, document_id, number bigint | heading, text',
};

/** What the terms of a passage depend on. Read along with it, never written. */
const ofPassage = {
  columns: ', document.name, document.title, corpus.number AS corpus',
  from: `LEFT JOIN document ON document.organization_id = passage.organization_id AND document.id = document_id
    LEFT JOIN corpus ON corpus.organization_id = document.organization_id AND corpus.account_key = document.account_key`,
};

export const archiveTables = (Object.keys(tables) as TableName[]).map((name): ArchiveTable => {
  const parts = tables[name].split('|').map((part) => part.split(',').map((each) => each.trim().split(' ')));
  const columns = parts.flat().map(([column, type = 'text']) => [column, type]);
  return { name, key: parts[0]!.map(([column]) => column!), columns: Object.fromEntries(columns) };
});

export function archiveTable(name: TableName): ArchiveTable {
  return archiveTables.find((table) => table.name === name)!;
}

/** The target indexes the copied threads when it is first served: triggers have marked them as due. */
const tablesNotCopied =
  /^(?:schema_version|passage_term\w*|search_due|search_range|thread_search|thread_term\w*|unfinished_copy|sqlite_\w+)$/;

/** Before every row: the first column of a key is neither empty nor 0. */
export function createStartRow({ columns, key }: ArchiveTable): Row {
  return Object.fromEntries(key.map((column) => [column, columns[column] === 'text' ? '' : 0]));
}

/** Reads the `:limit` rows after the values of the key. */
export function readText(
  { name, columns, key }: ArchiveTable,
  expressions: Readonly<Record<string, string>>,
): string {
  const qualified = (column: string) => `"${name}"."${column}"`;
  const read = Object.keys(columns).map(
    (column) => `${expressions[`${name}.${column}`] ?? qualified(column)} AS "${column}"`,
  );
  const keys = key.map(qualified).join(', ');
  const joined = name === 'passage' ? ofPassage : { columns: '', from: '' };
  return `SELECT ${read.join(', ')}${joined.columns} FROM "${name}" ${joined.from}
    WHERE (${keys}) > (${key.map((column) => `:${column}`).join(', ')}) ORDER BY ${keys} LIMIT :limit`;
}

/** Rejects a schema with a column that the list above lacks: a copy must be complete. */
export function assertAllKnown(
  found: readonly { table: string; column: string }[],
  own: readonly string[] = [],
): void {
  const known = new Set(
    archiveTables.flatMap(({ name, columns }) => Object.keys(columns).map((c) => `${name}.${c}`)),
  );
  for (const { table, column } of found) {
    const name = `${table}.${column}`;
    if (!tablesNotCopied.test(table) && !known.has(name) && !own.includes(name)) {
      throw new Error(`The copy does not know ${name}.`);
    }
  }
}
