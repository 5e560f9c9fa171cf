import assert from 'node:assert/strict';
import { it } from 'node:test';
import { lazyCompilers } from './validation.ts';

type Validate = (value: unknown) => boolean;

it('compiles the schemas of all routes before their first requests', async () => {
  const { compilersFactory, compileAll } = lazyCompilers();
  const compiled: string[] = [];
  const build = compilersFactory.buildValidator as unknown as (schemas: object) => (part: object) => Validate;
  const compile = build({});
  const [text, number] = ['string', 'number'].map((type) =>
    compile({
      get schema() {
        if (!compiled.includes(type)) compiled.push(type);
        return { type };
      },
    }),
  );
  assert.ok(text!('a') && !text!(1));
  assert.deepEqual(compiled, ['string'], 'at the first request');
  await compileAll();
  assert.deepEqual(compiled, ['string', 'number']);
  assert.ok(number!(1) && !number!('a'));
});
