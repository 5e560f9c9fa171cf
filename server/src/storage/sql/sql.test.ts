import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { query } from '../postgres/database.ts';
import { sqliteText } from '../sqlite/transactions.ts';
import { identifier, type Sql, Statement, sql } from './sql.ts';

describe('A statement', () => {
  const owned = sql`organization_id = :organizationId AND id = :threadId`;
  const rename = Statement.for()('rename')`
    UPDATE thread SET title = :title, at = :at::bigint WHERE ${owned} AND :title <> ''`;

  const values = { organizationId: 'o', threadId: 't', at: 1, title: null, prompt: 'p' };

  it('numbers its values for PostgreSQL in order of appearance, each once, and leaves casts alone', () => {
    assert.equal(
      query(rename, values).text.trim(),
      "UPDATE thread SET title = $1, at = $2::bigint WHERE organization_id = $3 AND id = $4 AND $1 <> ''",
    );
  });

  it('binds values by name and ignores the ones it does not name', () => {
    assert.deepEqual(query(rename, values).values, [null, 1, 'o', 't']);
  });

  it('rejects a missing value instead of writing NULL', () => {
    assert.throws(
      () => query(rename, { organizationId: 'o', threadId: 't', title: 'x' }),
      /rename has no value for :at/,
    );
  });

  it('locks rows on PostgreSQL only and names an index for SQLite only', () => {
    const locked = Statement.for()(
      'locked',
    )`SELECT 1 FROM thread INDEXED BY thread_own WHERE id = :id FOR NO KEY UPDATE`;
    assert.equal(sqliteText(locked), 'SELECT 1 FROM thread INDEXED BY thread_own WHERE id = :id');
    assert.equal(query(locked, { id: 't' }).text, 'SELECT 1 FROM thread  WHERE id = $1 FOR NO KEY UPDATE');
  });

  it('uses each database’s function for the greater of two values', () => {
    const later = Statement.for()('later')`SELECT greatest(version + 1, :at)`;
    assert.equal(sqliteText(later), 'SELECT max(version + 1, :at)');
    assert.equal(query(later, { at: 1 }).text, 'SELECT greatest(version + 1, $1)');
  });

  it('accepts only SQL built with the template', () => {
    const title: string = "x'; DROP TABLE thread; --";
    // @ts-expect-error: a string is not a piece of SQL.
    assert.equal(sql`${title}`, title);
    assert.throws(() => identifier(title), /cannot be the name/);
    assert.equal(identifier('user') satisfies Sql, '"user"');
  });
});
