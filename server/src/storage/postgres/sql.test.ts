import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bind, identifier, type Sql, sql, statement } from './sql.ts';

describe('A statement', () => {
  const owned = sql`organization_id = :organizationId AND id = :threadId`;
  const rename = statement('rename')`
    UPDATE thread SET title = :title, at = :at::bigint WHERE ${owned} AND :title <> ''`;

  it('numbers its values in order of appearance, each once, and leaves casts alone', () => {
    assert.equal(
      rename.text.trim(),
      "UPDATE thread SET title = $1, at = $2::bigint WHERE organization_id = $3 AND id = $4 AND $1 <> ''",
    );
  });

  it('binds values by name and ignores the ones it does not name', () => {
    const values = { organizationId: 'o', threadId: 't', at: 1, title: null, prompt: 'p' };
    assert.deepEqual(bind(rename, values), [null, 1, 'o', 't']);
  });

  it('rejects a missing value instead of writing NULL', () => {
    assert.throws(
      () => bind(rename, { organizationId: 'o', threadId: 't', title: 'x' }),
      /rename has no value for :at/,
    );
  });

  it('accepts no text that is not SQL of ours', () => {
    const title: string = "x'; DROP TABLE thread; --";
    // @ts-expect-error: a string is not a piece of SQL.
    assert.equal(sql`${title}`, title);
    assert.throws(() => identifier(title), /cannot be the name/);
    assert.equal(identifier('user') satisfies Sql, '"user"');
  });
});
