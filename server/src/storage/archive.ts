/** A store as rows: `skein copy` reads them from one archive and writes them to another, whatever the engines. */
export interface Archive {
  /** Whether a thread's `sequence` is unique in the whole store or only in its organization. */
  readonly threadNumbers: 'store' | 'organization';
  count(table: ArchiveTable): Promise<number>;
  /** The next rows in key order, each followed by its joined columns. All reads see one snapshot. */
  read(table: ArchiveTable, after: Key | null, limit: number): Promise<Row[]>;
  readMarks(): Promise<Marks>;
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
  /** Writes the rows in one transaction. `terms`: for passages, the terms that each is found by. */
  write(table: ArchiveTable, rows: readonly Row[], terms?: Terms): Promise<void>;
  /** Continues numbers and time above the marks and removes the mark. The whole copy is durable from here on. */
  finish(marks: Marks): Promise<void>;
}

/** The table that marks a store as an unfinished copy while it exists. */
export const unfinishedCopyTable = 'unfinished_copy';

/** Why such a store is not opened. */
export const unfinishedCopyFault = 'it is an unfinished copy: run skein copy again, which starts over';

/** The highest numbers and the latest time that a store has given out. */
export interface Marks {
  readonly latestAt: number;
  readonly passage: number;
  readonly corpus: number;
  readonly move: number;
}

export type ColumnKind = 'text' | 'whole' | 'flag' | 'bytes';
export type Value = string | number | boolean | Uint8Array | null;
export type Row = readonly Value[];
export type Key = readonly (string | number)[];
export type Terms = readonly (readonly string[])[];

export interface ArchiveTable {
  readonly name: TableName;
  /** The first `keyLength` columns identify a row; an index has their order. */
  readonly keyLength: number;
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Read from other tables along with each row, never written. */
  readonly joined?: { readonly columns: Readonly<Record<string, string>>; readonly from: string };
}

export type TableName = (typeof tables)[number]['name'];

/** Another process has the store open. */
export class StoreInUse extends Error {}

const text = 'text';
const whole = 'whole';
const flag = 'flag';
const bytes = 'bytes';
const id = { organization_id: text, id: text } as const;

/** Every table with every column, referenced tables first. The adapters compare this list with their schema. */
const tables = [
  { name: 'secret', keyLength: 1, columns: { name: text, value: bytes } },
  {
    name: 'signing_key',
    keyLength: 1,
    columns: { id: text, private_jwk: text, created_at: whole, retired_at: whole },
  },
  { name: 'user', keyLength: 1, columns: { id: text, email: text, created_at: whole } },
  {
    name: 'organization',
    keyLength: 1,
    columns: {
      ...{ id: text, name: text, api_enabled: flag, daily_quota: whole, created_at: whole },
      ...{ latest_at: whole, thread_sequence: whole, move_sequence: whole },
    },
  },
  {
    name: 'password',
    keyLength: 1,
    columns: { id: text, user_id: text, hash: text, proven: flag, set_at: whole },
  },
  {
    name: 'member',
    keyLength: 2,
    columns: {
      ...{ organization_id: text, user_id: text, role: text, service: flag },
      ...{ joined_at: whole, opened_at: whole, password_id: text },
    },
  },
  {
    name: 'identity',
    keyLength: 2,
    columns: { issuer: text, subject: text, user_id: text, bound_at: whole },
  },
  {
    name: 'invitation',
    keyLength: 2,
    columns: {
      ...{ organization_id: text, user_id: text, token_hash: text, resets: flag },
      ...{ by_operator: flag, created_at: whole, expires_at: whole },
    },
  },
  {
    name: 'session',
    keyLength: 1,
    columns: {
      ...{ token_hash: text, user_id: text, proof: text, password_id: text, created_at: whole },
      ...{ seen_at: whole, expires_at: whole, ends_at: whole },
    },
  },
  {
    name: 'api_key',
    keyLength: 1,
    columns: {
      ...{ hash: text, ...id, user_id: text, name: text, hint: text },
      ...{ created_by: text, created_at: whole, revoked_at: whole },
    },
  },
  {
    name: 'key_request',
    keyLength: 2,
    columns: {
      ...{ ...id, user_id: text, name: text, state: text, requested_at: whole },
      ...{ decided_by: text, expires_at: whole },
    },
  },
  {
    name: 'application',
    keyLength: 1,
    columns: {
      ...{ id: text, organization_id: text, name: text, secret_hash: text, epoch: whole },
      ...{ created_at: whole, rotated_at: whole, deleted_at: whole },
    },
  },
  { name: 'quota_use', keyLength: 2, columns: { organization_id: text, day: whole, used: whole } },
  {
    name: 'prompt_use',
    keyLength: 3,
    columns: { organization_id: text, period: text, user_id: text, started_at: whole, prompts: whole },
  },
  {
    name: 'audit_event',
    keyLength: 3,
    columns: {
      ...{ organization_id: text, at: whole, id: text, actor_kind: text, actor_user_id: text },
      ...{ action: text, subject: text, detail: text, trace_id: text },
    },
  },
  {
    name: 'usage_day',
    keyLength: 5,
    columns: {
      ...{ organization_id: text, day: whole, credential_id: text, operation: text, outcome: text },
      ...{ requests: whole },
    },
  },
  {
    name: 'credential_use',
    keyLength: 2,
    columns: { organization_id: text, credential_id: text, last_used_at: whole },
  },
  {
    name: 'thread',
    keyLength: 2,
    columns: {
      ...{ ...id, sequence: whole, user_id: text, title: text, account_id: text, secondary_id: text },
      ...{ created_at: whole, updated_at: whole, activity_at: whole, published: flag, deleted_at: whole },
      ...{ version: whole },
    },
  },
  {
    name: 'listing_size',
    keyLength: 3,
    columns: { organization_id: text, user_id: text, account_key: text, threads: whole, published: whole },
  },
  {
    name: 'thread_move',
    keyLength: 2,
    columns: {
      ...{ organization_id: text, sequence: whole, thread_id: text },
      ...{ left_activity_at: whole, moved_at: whole },
    },
  },
  {
    name: 'message',
    keyLength: 3,
    columns: {
      ...{ organization_id: text, thread_id: text, id: text, role: text, content: text, created_at: whole },
      ...{ status: text, completed_at: whole, steps: text, sources: text, model: text, available_at: whole },
      ...{
        claim_token: whole,
        attempts: whole,
        deadline_at: whole,
        trace_id: text,
        failure: text,
        held: flag,
        verdict: text,
      },
    },
  },
  {
    name: 'idempotency_key',
    keyLength: 3,
    columns: {
      ...{ organization_id: text, user_id: text, key: text, body_hash: text, thread_id: text },
      ...{ message_id: text, reply_id: text, created_at: whole, expires_at: whole },
    },
  },
  {
    name: 'document',
    keyLength: 2,
    columns: {
      ...{ ...id, account_key: text, name: text, title: text, url: text },
      ...{ passages: whole, added_at: whole, state: text, kept_id: text, bytes: whole },
    },
  },
  {
    name: 'corpus',
    keyLength: 2,
    columns: { organization_id: text, account_key: text, number: whole, passages: whole },
  },
  {
    name: 'passage',
    keyLength: 3,
    columns: { organization_id: text, document_id: text, number: whole, heading: text, text },
    joined: {
      columns: { title: 'document.title', corpus: 'corpus.number' },
      from: `LEFT JOIN document ON document.organization_id = passage.organization_id AND document.id = document_id
        LEFT JOIN corpus ON corpus.organization_id = document.organization_id
          AND corpus.account_key = document.account_key`,
    },
  },
] as const satisfies readonly (Omit<ArchiveTable, 'name'> & { name: string })[];

export const archiveTables: readonly ArchiveTable[] = tables;

/** Tables that are not copied: schema, time, the index of passages, and the mark of an unfinished copy. */
const tablesNotCopied = /^(?:schema_version|store_clock|passage_term\w*|unfinished_copy|sqlite_\w+)$/;

/** The statement that reads the rows after a key, or the first ones; `place` formats the n-th parameter. */
export function readText(
  { name, columns, keyLength, joined }: ArchiveTable,
  expressions: Readonly<Record<string, string>>,
  afterKey: boolean,
  place: (number: number) => string,
): string {
  const qualified = (column: string) => `"${name}"."${column}"`;
  const keys = Object.keys(columns).slice(0, keyLength);
  const read = Object.keys(columns).map((column) => expressions[`${name}.${column}`] ?? qualified(column));
  const after = `(${keys.map(qualified).join(', ')}) > (${keys.map((_, index) => place(index + 1)).join(', ')})`;
  return `SELECT ${[...read, ...Object.values(joined?.columns ?? {})].join(', ')} FROM "${name}" ${joined?.from ?? ''}
    ${afterKey ? `WHERE ${after}` : ''} ORDER BY ${keys.map(qualified).join(', ')}
    LIMIT ${place(afterKey ? keyLength + 1 : 1)}`;
}

/** Rejects a schema with a column that the list above lacks: a copy must be complete. */
export function assertAllKnown(
  found: readonly { table: string; column: string }[],
  own: readonly string[],
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
