/** The types of the backend's requests and responses, derived from the schemas of its routes. Types only: no code. */
import type * as sessions from '../../../server/src/http/console/session-schemas.ts';
import type * as settings from '../../../server/src/http/console/setting-schemas.ts';
import type * as threads from '../../../server/src/http/console/thread-schemas.ts';
import type { Json as JsonOf } from '../../../server/src/http/schema.ts';

export type { PasswordLengthMin, SignInProblem } from '../../../server/src/http/console/session-schemas.ts';
export type { ThreadEvents } from '../../../server/src/http/console/thread-schemas.ts';

type Schemas = typeof sessions & typeof settings & typeof threads;

/** Some schemas depend on the configured limits. */
type SchemaOf<Value> = Value extends (limits: never) => infer Schema ? Schema & object : Value & object;

/** By the names of the schemas without their ending, as in `key` for `keySchema`. */
type Types = {
  [Name in keyof Schemas as Name extends `${infer Short}Schema` ? Short : Name]: JsonOf<
    SchemaOf<Schemas[Name]>
  >;
};

/** The JSON that a schema describes: `Json<'key'>` is that of `keySchema`, `Json<'signInBody'>` that of `signInBody`. */
export type Json<Name extends keyof Types> = Types[Name];
