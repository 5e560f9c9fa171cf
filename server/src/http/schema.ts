import type {
  Static,
  TArray,
  TNull,
  TObject,
  TProperties,
  TSchema,
  TString,
  TUnion,
  Type as TypeBox,
} from 'typebox';
import { iso } from '../domain/time.ts';

const ofType = (type: string) => (options?: object) => ({ type, ...options });
const optional = new WeakSet<object>();

/** As in TypeBox, and with its types. Loading the library itself would take an eighth of the startup time. */
const builders = {
  String: ofType('string'),
  Number: ofType('number'),
  Integer: ofType('integer'),
  Boolean: ofType('boolean'),
  Null: ofType('null'),
  Unknown: (options?: object) => ({ ...options }),
  Literal: (value: unknown, options?: object) => ({ type: typeof value, const: value, ...options }),
  Enum: (values: unknown, options?: object) => ({ enum: values, ...options }),
  Union: (anyOf: unknown, options?: object) => ({ anyOf, ...options }),
  Array: (items: unknown, options?: object) => ({ type: 'array', items, ...options }),
  Object(properties: Record<string, object>, options?: object) {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name] as object));
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
  },
  Optional<S extends object>(schema: S): S {
    const copy = { ...schema };
    optional.add(copy);
    return copy;
  },
  Unsafe: <S extends object>(schema: S): S => schema,
};

export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;

/** The JSON value that a schema describes, as routes return it and clients read it. */
export type Json<S extends TSchema> = DeepReadonly<Static<S>>;

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;

/** An object with these properties and no others. */
export const object = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const string = Type.String();
export const number = Type.Number();
export const integer = Type.Integer();
export const boolean = Type.Boolean();
export const count = Type.Integer({ minimum: 0 });

type Time = TString & { readonly format: 'date-time' };

/** ISO 8601, in UTC. */
export const time = Type.String({ format: 'date-time' }) as Time;

/** What `present` reads of a schema. */
interface SchemaParts {
  readonly type?: string;
  readonly format?: string;
  readonly items?: SchemaParts;
  readonly properties?: Readonly<Record<string, SchemaParts>>;
  readonly anyOf?: readonly SchemaParts[];
}

/** What a value is presented from: a time is in milliseconds, and an object may have more fields. */
export type Source<S extends TSchema> = S extends Time
  ? number
  : S extends TUnion<[infer Value extends TSchema, TNull]>
    ? Source<Value> | null
    : S extends TArray<infer Item extends TSchema>
      ? readonly Source<Item>[]
      : S extends TObject<infer P>
        ? { readonly [Name in keyof P]: Source<P[Name]> }
        : Json<S>;

/** With ISO 8601 times, and without fields that the schema does not name. Only a union of objects is returned as it is. */
export function present<S extends TSchema>(schema: S, source: Source<S>): Json<S>;
export function present(schema: SchemaParts, source: unknown): unknown {
  // A fast path for most fields: presenting a list then costs no more than writing its fields out.
  if (source === null || typeof source === 'string' || typeof source === 'boolean') return source;
  const { format, items, properties, anyOf } = schema;
  if (format === time.format) return iso(source as number);
  if (items !== undefined) return (source as readonly never[]).map((item) => present(items, item));
  if (properties !== undefined) {
    const values = source as Readonly<Record<string, never>>;
    const shown: Record<string, unknown> = {};
    for (const name of Object.keys(properties)) shown[name] = present(properties[name]!, values[name]!);
    return shown;
  }
  const [value, alternative] = anyOf ?? [];
  return value !== undefined && alternative?.type === 'null' ? present(value, source as never) : source;
}

export const pageQuery = ({ pageSizeMax }: { readonly pageSizeMax: number }) => ({
  cursor: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageSizeMax })),
});

/** Checked by the service alone: text that the store can keep. */
export const textFormat = 'text';

/** Text that the store can keep, with a length in code points. */
export const text = (lengthMin: number, lengthMax: number, description?: string) =>
  Type.String({
    format: textFormat,
    minLength: lengthMin,
    maxLength: lengthMax,
    ...(description !== undefined && { description }),
  });
