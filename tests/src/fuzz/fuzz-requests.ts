import fc from 'fast-check';
import { bodies } from './fuzz-bodies.ts';
import {
  type Fault,
  type Fixture,
  type Framing,
  type Operation,
  type Part,
  statusOfFault,
} from './fuzz-part.ts';
import { contentTypes, credentials, extras, framings, methods, paths, queries } from './fuzz-parts.ts';

const faults = Object.keys(statusOfFault) as Fault[];

export interface FuzzRequest {
  readonly method: string;
  readonly bytes: Buffer;
  readonly status: number;
  /** The request breaks the framing of its connection, so no other request can follow on it. */
  readonly alone: boolean;
  /**
   * The request stops in the middle. The client half-closes, because otherwise the service would rightly wait for the
   * rest.
   */
  readonly cut: boolean;
}

/** Returns the same requests for the same seed. */
export function fuzzRequests(fixture: Fixture, count: number, seed: number): FuzzRequest[] {
  return fc.sample(requests(fixture), { numRuns: count, seed }).map(assemble);
}

interface Draft {
  readonly operation: Operation;
  readonly method: Part;
  readonly path: Part;
  readonly query: Part;
  readonly credential: Part<readonly string[]>;
  readonly contentType: Part<readonly string[]>;
  readonly extra: Part<readonly string[]>;
  readonly body: Part<Buffer>;
  readonly framing: Part<Framing>;
}

const operations: readonly Operation[] = ['get', 'list', 'create', 'rename', 'delete'];

/** One arbitrary per operation, created once, because some values are large. */
function requests(fixture: Fixture): fc.Arbitrary<Draft> {
  return fc.oneof(
    ...operations.map((operation) =>
      fc.record({
        operation: fc.constant(operation),
        method: methods(operation),
        path: paths(operation, fixture),
        query: queries(operation),
        credential: credentials(operation, fixture),
        contentType: contentTypes(operation),
        extra: extras(operation),
        body: bodies(operation),
        framing: framings(operation),
      }),
    ),
  );
}

/** An absent or ignored body cannot be wrong, so such parts have no fault. */
function assemble(draft: Draft, index: number): FuzzRequest {
  const { operation, method, path, query, credential, contentType, extra, body, framing } = draft;
  const hasBody = operation === 'create' || operation === 'rename';
  const fields = [
    ...credential.value,
    ...extra.value.map((line) => line.replaceAll('{index}', String(index))),
    ...(hasBody ? contentType.value : []),
    ...(framing.value.fields ?? frameBody(framing.value, body.value)),
  ];
  const question = query.value === '' ? '' : `?${query.value}`;
  const head = `${method.value} ${path.value}${question} HTTP/1.1\r\n${fields.map((line) => `${line}\r\n`).join('')}\r\n`;
  const sent = framing.value.style === 'chunked' ? chunked(body.value) : body.value;
  const found = new Set(
    [method, path, query, credential, extra, framing, ...(hasBody ? [contentType, body] : [])].map(
      ({ fault }) => fault,
    ),
  );
  const first = faults.find((fault) => found.has(fault));
  return {
    method: method.value,
    bytes: Buffer.concat([Buffer.from(head, 'latin1'), sent]),
    status: first === undefined ? expectSuccess(operation, extra.value) : statusOfFault[first],
    alone: found.has('http') || framing.value.cut === true,
    cut: framing.value.cut === true,
  };
}

function frameBody({ style }: Framing, body: Buffer): string[] {
  if (style === 'chunked') return ['Transfer-Encoding: chunked'];
  return body.length === 0 ? [] : [`Content-Length: ${body.length}`];
}

function chunked(body: Buffer): Buffer {
  const half = Math.ceil(body.length / 2);
  const pieces = [body.subarray(0, half), body.subarray(half)].filter(({ length }) => length > 0);
  const framed = pieces.flatMap((piece) => [
    Buffer.from(`${piece.length.toString(16)}\r\n`),
    piece,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...framed, Buffer.from('0\r\n\r\n')]);
}

function expectSuccess(operation: Operation, extra: readonly string[]): number {
  if (operation === 'create') return 201;
  const conditional = operation === 'get' || operation === 'list';
  return conditional && extra.some((line) => /^if-none-match: *\* *$/i.test(line)) ? 304 : 200;
}
