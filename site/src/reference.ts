import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of an OpenAPI document that the reference shows. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly format?: string;
}

interface Content {
  readonly 'application/json': { readonly schema: Schema; readonly example: unknown };
}

interface Operation {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Partial<Content> }>
  >;
}

interface Document {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The API reference as Markdown, from `openapi.json`. */
export function referencePage(repository: string): string {
  const document: Document = JSON.parse(readFileSync(join(repository, 'openapi.json'), 'utf8'));
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => describe(method.toUpperCase(), path, operation)),
  );
  const objects = Object.entries(document.components.schemas).map(
    ([name, schema]) => `### ${name}\n\n${properties(schema)}`,
  );
  return [
    document.info.description,
    'Send an API key, or the access token of an application, as `Authorization: Bearer …`: see [Authentication](docs/authentication.md). The [API guide](docs/api-guide.md) shows each operation with curl and TypeScript. It is also available as [OpenAPI 3.1](/openapi.json).',
    ...operations,
    '## Objects',
    ...objects,
  ].join('\n\n');
}

function describe(method: string, path: string, operation: Operation): string {
  const { parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const [status, success] = Object.entries(responses).find(([code]) => code.startsWith('2'))!;
  const failures = Object.entries(responses).filter(([code]) => !code.startsWith('2'));
  return [
    `## ${operation.summary}`,
    `**${method}** \`${path}\``,
    operation.description,
    ...(parameters.length > 0
      ? [
          table(
            ['Parameter', 'In', 'Type', ''],
            parameters.map((one) => [
              `\`${one.name}\``,
              one.in,
              describeType(one.schema),
              [one.required ? 'Required.' : '', one.description, limits(one.schema)]
                .filter(Boolean)
                .join(' '),
            ]),
          ),
        ]
      : []),
    ...(body ? ['**Body**', properties(body.schema)] : []),
    fenced('sh', curl(method, path, body?.example)),
    `**Response** ${status}`,
    fenced('json', JSON.stringify(success.content?.['application/json']?.example, null, 2)),
    table(
      ['Status', ''],
      failures.map(([code, { description }]) => [code, description]),
    ),
  ].join('\n\n');
}

function curl(method: string, path: string, body: unknown): string {
  const url = `"$SKEIN_BASE_URL${path.replace('{id}', '$THREAD_ID')}"`;
  const lines = [
    `curl ${method === 'GET' || (method === 'POST' && body) ? '' : `-X ${method} `}${url}`,
    '-H "Authorization: Bearer $SKEIN_API_KEY"',
    ...(body ? ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`] : []),
  ];
  return lines.join(' \\\n  ');
}

function properties({ properties = {}, required = [] }: Schema): string {
  return table(
    ['Property', 'Type', ''],
    Object.entries(properties).map(([name, schema]) => [
      `\`${name}\``,
      describeType(schema),
      [required.includes(name) ? '' : 'Optional.', schema.description, limits(schema)]
        .filter(Boolean)
        .join(' '),
    ]),
  );
}

function describeType({ $ref, type, format, anyOf, items, enum: values, const: value }: Schema): string {
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1)!;
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (value !== undefined) return `\`${value}\``;
  if (values !== undefined) return values.map((one) => `\`${one}\``).join(', ');
  if (anyOf !== undefined) return anyOf.map(describeType).join(' or ');
  if (items !== undefined) return `array of ${describeType(items)}`;
  return format === 'date-time' ? 'time (ISO 8601)' : (type ?? 'any');
}

function limits({ minimum, maximum, maxLength, default: usual }: Schema): string {
  const parts = [
    minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}.` : '',
    maxLength !== undefined ? `At most ${maxLength.toLocaleString('en')} characters.` : '',
    usual !== undefined ? `Default: ${usual}.` : '',
  ];
  return parts.filter(Boolean).join(' ');
}

function fenced(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}
