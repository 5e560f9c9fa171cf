import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ajv, ValidateFunction } from 'ajv';
import type { FastifyServerOptions } from 'fastify';
import { counted, isStorable, withCommas } from '../../../runtime/src/pure/text.ts';
import { invalid } from '../domain/errors.ts';
import { shownKey } from './json-body.ts';
import { parseQuery, type QuerySchema } from './request.ts';
import { textFormat } from './schema.ts';

type SchemaErrorFormatter = NonNullable<FastifyServerOptions['schemaErrorFormatter']>;
type ValidationFault = Parameters<SchemaErrorFormatter>[0][number];

/** The parts of a schema that an error message describes. */
interface Rule {
  readonly type?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Rule[];
}

interface Fault extends ValidationFault {
  /** The schema that the value does not match. */
  readonly schema: Rule;
}

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;
/** Fastify replaces what was sent with `value`. */
type Validate = ((sent: unknown) => boolean | { value: unknown }) & { errors?: unknown };

/**
 * Ajv coerces, removes and adds nothing by default: a request is either valid or rejected. It reports only the first error:
 * collecting all errors of one body of unknown keys could take a second of CPU.
 */
const validatorOptions = {
  // The schemas are our own, and validating them would take as long as compiling all of them.
  validateSchema: false,
  formats: { [textFormat]: isStorable },
} as const;

const require = createRequire(import.meta.url);

/**
 * A schema takes 1 to 5 ms, and requests that arrive meanwhile must not wait for many of them. A process that soon ends
 * compiles few: all of them take 80 ms of processor time.
 */
const compileEveryMs = 250;

const loadCompiler = (): typeof import('ajv') => require('ajv');

/** A schema is compiled with the first request. To load the compiler and compile all takes a fifth of the startup time. */
export function lazyCompilers(): { compilersFactory: Compilers; compileAll: () => Promise<void> } {
  const compilations: (() => ValidateFunction)[] = [];
  let compiler: Ajv | undefined;
  const compileLazily = (part: { schema: object; httpPart?: string }) => {
    let validator: ValidateFunction | undefined;
    const compiled = (): ValidateFunction => {
      compiler ??= new (loadCompiler().Ajv)(validatorOptions);
      validator ??= compiler.compile(part.schema);
      return validator;
    };
    compilations.push(compiled);
    const lazyValidate: Validate = (sent) => {
      const validate = compiled();
      const isQuery = part.httpPart === 'querystring';
      const value = isQuery ? parseQuery(sent as string, part.schema as QuerySchema) : sent;
      const isValid = validate(value);
      lazyValidate.errors = isValid ? null : [faultIn(part.schema, validate.errors as ValidationFault[])];
      return isValid && isQuery ? { value } : isValid;
    };
    return lazyValidate;
  };
  return {
    compilersFactory: {
      buildValidator: (() => compileLazily) as unknown as NonNullable<Compilers['buildValidator']>,
      // Responses are strings already: a compiled serializer is slower on nullable fields than JSON.stringify.
      buildSerializer: () => () => JSON.stringify,
    },
    async compileAll() {
      loadCompiler();
      for (const compiled of compilations) {
        await pause(compileEveryMs, undefined, { ref: false });
        compiled();
      }
    },
  };
}

/** The last error belongs to the outermost schema: the ones before it are of the alternatives that were tried. */
function faultIn(whole: object, errors: readonly ValidationFault[]): Fault {
  const error = errors[errors.length - 1]!;
  const steps = error.schemaPath.split('/').slice(1, -1);
  const schema = steps.reduce((at: unknown, step) => (at as Record<string, unknown>)[step], whole);
  return { ...error, schema: schema as Rule };
}

/** One sentence that names the first invalid field. Never its value, which may be a prompt. */
export const formatFaults: SchemaErrorFormatter = ([fault], part) => {
  // The caller chose the name of an unknown field.
  const isUnknownField = fault!.keyword === 'additionalProperties';
  const options = isUnknownField ? { logMessage: 'Unknown field.' } : undefined;
  return invalid(describeFault(fault as Fault, part), options);
};

const partNames: Readonly<Record<string, string>> = {
  body: 'Request body',
  querystring: 'Query string',
  params: 'Path',
  headers: 'Headers',
};

function describeFault({ instancePath, keyword, params, schema }: Fault, part: string): string {
  const path = instancePath.slice(1).split('/').filter(Boolean);
  const { missingProperty, additionalProperty } = params as Record<string, string>;
  if (keyword === 'required') return `Missing required field ${nameField([...path, missingProperty!])}.`;
  if (keyword === 'additionalProperties')
    return `Unknown field ${nameField([...path, shownKey(additionalProperty!)])}.`;
  if (path.length === 0) return `${partNames[part] ?? part} must be a JSON ${schema.type}.`;
  const field = part === 'headers' ? `\`${headerName(path[0]!)}\`` : nameField(path);
  if (keyword === 'format') return `${field} must not contain NUL characters or unpaired surrogates.`;
  return `${field} must be ${describeRule(schema)}.`;
}

function nameField(path: readonly string[]): string {
  return `\`${path.join('.')}\``;
}

/** `Idempotency-Key` for `idempotency-key`, as headers are written in the documentation. */
function headerName(name: string): string {
  return name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
}

/** What a schema allows: `a string with 1 to 500 characters`. */
function describeRule(schema: Rule): string {
  const { type, minLength, maxLength, minimum, maximum, minItems, maxItems, pattern } = schema;
  if (schema.anyOf !== undefined) return schema.anyOf.map(describeRule).join(' or ');
  if (schema.enum !== undefined) return `one of ${schema.enum.map((value) => `\`${value}\``).join(', ')}`;
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (type === 'null') return 'null';
  if (type === 'boolean') return 'true or false';
  if (pattern !== undefined) return `a string that matches \`${pattern}\``;
  const noun = `${/^[aeiou]/.test(type!) ? 'an' : 'a'} ${type}`;
  const range = describeRange(minimum, maximum);
  if (range !== undefined) return `${noun} ${range}`;
  const length =
    describeCount(minLength, maxLength, 'character') ?? describeCount(minItems, maxItems, 'item');
  return length === undefined ? noun : `${noun} with ${length}`;
}

function describeRange(min: number | undefined, max: number | undefined): string | undefined {
  if (min !== undefined && max !== undefined) return `from ${withCommas(min)} to ${withCommas(max)}`;
  if (min !== undefined) return `of at least ${withCommas(min)}`;
  return max === undefined ? undefined : `of at most ${withCommas(max)}`;
}

function describeCount(min = 0, max: number | undefined, noun: string): string | undefined {
  if (min > 0 && max !== undefined) return `${withCommas(min)} to ${counted(max, noun)}`;
  if (min > 0) return `at least ${counted(min, noun)}`;
  return max === undefined ? undefined : `at most ${counted(max, noun)}`;
}
