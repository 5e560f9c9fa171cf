import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Type as TypeBox } from 'typebox';
import { nullable, object, present, string, Type, time } from './schema.ts';

type Builders = typeof Type;

/** The schema of each builder, with and without options, as served in the OpenAPI document. */
function everySchema(type: Builders): string {
  const options = { description: 'A thing', examples: ['one'] };
  return JSON.stringify([
    type.String(),
    type.String({ minLength: 1, ...options }),
    type.Number(options),
    type.Integer({ minimum: 0 }),
    type.Boolean(),
    type.Null(),
    type.Unknown(options),
    type.Literal(true),
    type.Literal('user', options),
    type.Enum(['a', 'b'], options),
    type.Union([type.String(), type.Null()], options),
    type.Array(type.String(), { maxItems: 3 }),
    type.Unsafe<string>({ $ref: 'Thread#' }),
    type.Object({}),
    type.Object({ a: type.Optional(type.String()) }),
    type.Object(
      { a: type.Optional(type.String(options)), b: type.String() },
      { additionalProperties: false },
    ),
  ]);
}

describe('Schema builders', () => {
  it('build the same schemas as TypeBox', () => {
    assert.equal(everySchema(Type), everySchema(TypeBox));
  });
});

describe('present', () => {
  const schema = object({ id: string, addedAt: time, usedAt: nullable(time), name: nullable(string) });

  it('returns the fields of the schema and no others', () => {
    const record = { id: 'key_1', addedAt: 0, usedAt: null, name: null, hash: 'secret' };
    assert.deepEqual(Object.keys(present(schema, record)), ['id', 'addedAt', 'usedAt', 'name']);
  });

  it('returns times as ISO 8601', () => {
    const { addedAt, usedAt } = present(schema, { id: 'a', addedAt: 0, usedAt: 1000, name: null });
    assert.deepEqual([addedAt, usedAt], ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:01.000Z']);
    assert.equal(present(schema, { id: 'a', addedAt: 0, usedAt: null, name: null }).usedAt, null);
  });

  it('presents the objects in lists and in nullable fields in the same way', () => {
    const nested = object({
      keys: Type.Array(schema),
      latest: nullable(schema),
      count: nullable(Type.Number()),
    });
    const record = { id: 'key_1', addedAt: 0, usedAt: null, name: null, hash: 'secret' };
    const shown = { id: 'key_1', addedAt: '1970-01-01T00:00:00.000Z', usedAt: null, name: null };
    const source = { keys: [record], latest: record, count: 2, total: 3 };
    assert.deepEqual(present(nested, source), { keys: [shown], latest: shown, count: 2 });
    assert.deepEqual(present(nested, { ...source, latest: null }).latest, null);
  });
});
