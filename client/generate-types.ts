import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compile } from 'json-schema-to-typescript';

type Schema = NonNullable<Parameters<typeof compile>[0]>;

const file = join(import.meta.dirname, 'src/types.ts');
const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean' } },
  allowPositionals: true,
});
const [openapi = join(import.meta.dirname, '../openapi.json')] = positionals;
const fresh = await generateTypes(JSON.parse(readFileSync(openapi, 'utf8')));

if (!values.check) {
  writeFileSync(file, fresh);
} else if (readFileSync(file, 'utf8') !== fresh) {
  console.error("client/src/types.ts is not what openapi.json says: run 'npm run client:types'.");
  process.exitCode = 1;
}

/** The types of what is sent and answered, as the OpenAPI document has them. */
async function generateTypes({ paths, components }: Schema): Promise<string> {
  const { Thread, ThreadMessage, ThreadStatus, Failure } = structuredClone(components.schemas);
  const { steps, sources } = ThreadMessage.properties;
  steps.anyOf[0].items.title = 'Step';
  sources.anyOf[0].items.title = 'Source';
  ThreadMessage.properties.status.anyOf[0].title = 'MessageStatus';
  Failure.properties.error.properties.code.title = 'ErrorCode';
  const [many, one] = [paths['/api/v1/threads'], paths['/api/v1/threads/{id}']];
  const definitions = {
    Thread,
    ThreadMessage,
    ThreadStatus,
    Failure,
    CreateThreadBody: readBody(many.post),
    CreatedThread: readResponse(many.post, 201),
    ThreadPage: readResponse(many.get, 200),
    ThreadWithMessages: readResponse(one.get, 200),
    RenamedThread: readResponse(one.patch, 200),
    DeletedThread: readResponse(one.delete, 200),
  };
  const text = await compile(forTypes({ title: 'Root', type: 'object', definitions }), 'Root', {
    additionalProperties: false,
    unreachableDefinitions: true,
    bannerComment: '// Written by `npm run client:types` from openapi.json.',
    format: false,
  });
  return laidOut(
    text
      .replace(/export interface Root \{\s*\}\n/, '')
      .replaceAll(/\/\*\*\n \* This interface was referenced by [^/]*\*\/\n/g, '\n')
      .replaceAll(/\/\*\*\n\s*\* ([^\n]*)\n\s*\*\//g, '/** $1 */')
      // JSON omits undefined fields, so callers may pass them.
      .replaceAll(/(\w+\?: [^;\n]+);?$/gm, '$1 | undefined'),
  );
}

/** As `npm run format` would leave it. */
function laidOut(text: string): string {
  const biome = join(import.meta.dirname, '../node_modules/.bin/biome');
  return execFileSync(biome, ['format', `--stdin-file-path=${file}`], { input: text, encoding: 'utf8' });
}

function readBody(operation: Schema): Schema {
  return operation.requestBody.content['application/json'].schema;
}

function readResponse(operation: Schema, status: number): Schema {
  return operation.responses[status].content['application/json'].schema;
}

/** References as the library finds them, and what is said of a field also where it may be null. */
function forTypes(schema: Schema): Schema {
  const text = JSON.stringify(schema).replaceAll('#/components/schemas/', '#/definitions/');
  return JSON.parse(text, (_name, value) => {
    const description = value?.anyOf?.[0]?.description;
    return description === undefined ? value : { description, ...value };
  });
}
