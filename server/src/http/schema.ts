import { type Static, type TProperties, type TSchema, Type } from 'typebox';

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

/** ISO 8601, in UTC. */
export const time = Type.String({ format: 'date-time' });

export const count = Type.Integer({ minimum: 0 });

/** The response of a change that has nothing to report. */
export const nothing = object({});

/** Text that the store can keep, with a length in code points. */
export const text = (lengthMin: number, lengthMax: number, description?: string) =>
  Type.String({
    format: 'text',
    minLength: lengthMin,
    maxLength: lengthMax,
    ...(description !== undefined && { description }),
  });
