import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Type as TypeBox } from 'typebox';
import { Type } from './schema.ts';

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
    type.Record(type.String(), type.Number()),
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
