import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ajv, ValidateFunction } from 'ajv';
import type { FastifyServerOptions } from 'fastify';
import { invalid } from '../domain/errors.ts';
import { counted, isStorable } from '../domain/text.ts';
import { shownKey } from './json-body.ts';
import { parseQuery, type QuerySchema } from './request.ts';
import { textFormat } from './schema.ts';

type SchemaErrorFormatter = NonNullable<FastifyServerOptions['schemaErrorFormatter']>;
type ValidationFault = Parameters<SchemaErrorFormatter>[0][number];

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
      lazyValidate.errors = validate.errors;
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

/** One sentence that names the first invalid field. Never its value, which may be a prompt. */
export const formatFaults: SchemaErrorFormatter = ([fault], part) => {
  // The caller chose the name of an unknown field.
  const isUnknownField = fault!.keyword === 'additionalProperties';
  const options = isUnknownField
    ? { logMessage: `${part}: has a field that cannot be set here.` }
    : undefined;
  return invalid(`${describe(fault!, part)}.`, options);
};

const limitRules: Readonly<Record<string, (limit: number) => string>> = {
  minLength: (limit) => `must have at least ${counted(limit, 'character')}`,
  maxLength: (limit) => `must have at most ${counted(limit, 'character')}`,
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
};

function describe({ instancePath, keyword, message, params }: ValidationFault, part: string): string {
  const field = instancePath.slice(1).replaceAll('/', '.');
  const { limit, missingProperty, additionalProperty, type } = params as Record<string, string>;
  switch (keyword) {
    case 'required':
      return `${missingProperty}: is required`;
    case 'additionalProperties':
      return `${shownKey(additionalProperty!)}: is not a field that can be set here`;
    case 'type':
      if (field === '') return `${part}: must be a JSON ${type}`;
      return `${field}: must be ${/^[aeiou]/.test(type!) ? 'an' : 'a'} ${type}`;
    case 'format':
      return `${field}: must not contain the character NUL or a lone surrogate`;
    default:
      return `${field || part}: ${limitRules[keyword]?.(Number(limit)) ?? message}`;
  }
}
