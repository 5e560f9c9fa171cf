import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { root } from '../service/service.ts';

export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; undefined if there is none. */
  readonly body: any;
}

/** The status of each code (§7), written down independently of the service. */
export const statusOfCode = {
  INVALID_PARAMS: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
} as const;

/** Clients must accept fields that they do not know. This version sends none. */
const withoutUnknownFields = (_name: string, schema: any) =>
  schema?.type === 'object' && schema.properties ? { additionalProperties: false, ...schema } : schema;
const document = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8'), withoutUnknownFields);
const ajv = new Ajv2020({
  strict: false,
  // `openapi.test.ts` checks the document. Compiling the schema of schemas would take 0.08 s in every test process.
  validateSchema: false,
  formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, text: true },
});
ajv.addSchema({ $id: 'openapi', ...document });
const compiled = new Map<string, ValidateFunction>();

/** Fails unless openapi.json documents this response for the operation, field by field. */
export function checkResponse(method: string, path: string, { status, headers, body }: ApiResponse): void {
  assert.match(headers.get('x-request-id') ?? '', /./, 'every response has an X-Request-Id');
  if (status >= 400) assert.equal(headers.get('cache-control'), 'no-store', `${method} ${path} ${status}`);
  if (status >= 400 && body !== undefined) {
    assertMatches('#/components/schemas/Failure', body);
    assert.equal(body.error.trace_id, headers.get('x-request-id'), 'the trace ID is the request id');
  }
  const template = findTemplate(path);
  const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()];
  if (operation === undefined) return;
  const announced = operation.responses[status];
  assert.ok(announced, `openapi.json does not announce ${status} for ${method} ${template}`);
  if (body === undefined || announced.content === undefined) return;
  const pointer = [
    'paths',
    template,
    method.toLowerCase(),
    'responses',
    status,
    'content',
    'application/json',
    'schema',
  ];
  assertMatches(
    `#/${pointer.map((part) => encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`,
    body,
  );
}

function findTemplate(path: string): string | undefined {
  const pathname = path.split('?')[0];
  if (pathname === '/threads') return '/api/v1/threads';
  return /^\/threads\/[^/]+$/.test(pathname as string) ? '/api/v1/threads/{id}' : undefined;
}

function assertMatches(reference: string, value: unknown): void {
  let validate = compiled.get(reference);
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `openapi${reference}` });
    compiled.set(reference, validate);
  }
  assert.ok(validate(value), `${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
}
