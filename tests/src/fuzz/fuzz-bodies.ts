import fc from 'fast-check';
import type { Fault, Operation, Part } from './fuzz-part.ts';

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const part = (value: Buffer, fault?: Fault): Part<Buffer> => ({ value, fault });

/** Values that are invalid for every text field. */
const wrongTexts = ['', null, 5, true, [], {}, ['a'], { length: 1 }, 'a\0b', '\ud800', 'x\udc00y'];

const notJson = [
  '{',
  '}',
  '[',
  '"',
  'null',
  '[]',
  '"text"',
  '5',
  'true',
  '{"prompt":}',
  "{'prompt':'x'}",
  '{"prompt":"x",}',
  '{"title":"x"',
  '{"title":"x"}}',
  'NaN',
  'undefined',
  '\u{feff}',
  '{"title":"\\x"}',
  '{"title":"\\u12"}',
  '{"title":"a\nb"}',
  '\0',
  '{"prompt":"x"}{"prompt":"y"}',
  '// {"prompt":"x"}',
  'prompt=x',
  '<a/>',
].map((text) => Buffer.from(text));

const notUtf8 = [
  [0xff, 0xfe],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xe2, 0x82],
].flatMap((bytes) =>
  ['prompt', 'title'].map((name) =>
    Buffer.concat([Buffer.from(`{"${name}":"`), Buffer.from(bytes), Buffer.from('"}')]),
  ),
);

/** The fields of a prototype in the body do not count. */
const prototypeKeys = [
  '{"__proto__":{"prompt":"x","title":"x"}}',
  '{"constructor":{"prototype":{"prompt":"x","title":"x"}}}',
].map((text) => Buffer.from(text));

const nested = (open: string, close: string, depth: number) =>
  Buffer.from(`{"title":"x","prompt":"x","deep":${open.repeat(depth)}1${close.repeat(depth)}}`);

/** Valid and invalid bodies of create and rename. Other operations sometimes send one, too, which is ignored. */
export function bodies(operation: Operation): fc.Arbitrary<Part<Buffer>> {
  if (operation === 'delete' || operation === 'get' || operation === 'list') {
    return fc.constantFrom('', '', '', '{', '{"title":5}').map((text) => part(Buffer.from(text)));
  }
  const field = operation === 'create' ? 'prompt' : 'title';
  const lengthMax = operation === 'create' ? 100_000 : 500;
  const optional = operation === 'create' ? ['title', 'accountId', 'secondaryId'] : [];
  const refused = fc.oneof(
    fc.constantFrom(...wrongTexts).map((text) => json({ [field]: text })),
    fc.constantFrom(...notJson, ...notUtf8, ...prototypeKeys),
    fc.constantFrom(nested('[', ']', 64), nested('{"a":', '}', 5000), nested('[', ']', 50_000)),
    fc.constantFrom({}, { [field.toUpperCase()]: 'x' }, { other: 1 }).map(json),
    fc.uint8Array({ minLength: 1, maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    fc
      .json({ maxDepth: 3 })
      .filter((text) => !text.includes(field))
      .map((text) => Buffer.from(text)),
    ...(optional.length > 0
      ? [
          fc
            .tuple(
              fc.constantFrom(...optional),
              fc.constantFrom(null, 5, [], {}, 'a\0', '\udfff', 'x'.repeat(501)),
            )
            .map(([name, value]) => json({ prompt: 'x', [name]: value })),
        ]
      : [
          fc
            .constantFrom('prompt', 'accountId', 'deleted', 'toString', '__proto__', 'constructor')
            .map((name) => json({ title: 'x', [name]: 'y' })),
        ]),
  );
  const tooLong = fc.constant(json({ [field]: 'é'.repeat(lengthMax + 1) }));
  const tooLarge = fc.constant(Buffer.alloc(1024 * 1024 + 1, 'x'));
  const invalid = fc.oneof(
    { weight: 300, arbitrary: refused },
    { weight: 4, arbitrary: tooLong },
    { weight: 1, arbitrary: tooLarge },
  );
  const good = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
    .filter((text) => text.isWellFormed() && !text.includes('\0'))
    .map((text) => json({ [field]: text, ...(operation === 'create' && { ['__proto__']: { prompt: 5 } }) }));
  return fc.oneof(
    { weight: 4, arbitrary: invalid.map((body) => part(body, 'validation')) },
    { weight: 1, arbitrary: good.map((body) => part(body)) },
  );
}
