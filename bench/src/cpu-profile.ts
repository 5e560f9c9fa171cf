import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './processes.ts';

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: number[];
}

interface Profile {
  readonly nodes: ProfileNode[];
  readonly samples: number[];
  readonly timeDeltas: number[];
}

export interface Shares {
  /** Shares of the busy time by part of the code, largest first. */
  readonly byPart: [string, number][];
  /** Shares of the busy time by running function. */
  readonly byFunction: [string, number][];
}

/** NODE_OPTIONS that make the service write a profile when it exits. */
export function profilingInto(folder: string): string {
  return `--cpu-prof --cpu-prof-interval 250 --cpu-prof-dir ${folder}`;
}

/** Sums up the last `lastSeconds` of the profile in `folder`, which leaves out the start. */
export function readShares(folder: string, lastSeconds: number): Shares {
  // The launcher runs Node.js once to check its version, which also leaves a small profile.
  const files = readdirSync(folder).map((name) => join(folder, name));
  const largest = files.toSorted((a, b) => statSync(b).size - statSync(a).size)[0]!;
  const profile: Profile = JSON.parse(readFileSync(largest, 'utf8'));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((c) => [c, id])));

  const partsByNode = new Map<number, string>();
  function findPart(id: number): string {
    const known = partsByNode.get(id);
    if (known !== undefined) return known;
    const parent = parents.get(id);
    const own = partName(nodes.get(id)!.callFrame);
    const part = own ?? (parent === undefined ? 'Node.js, other' : findPart(parent));
    partsByNode.set(id, part);
    return part;
  }

  const parts = new Map<string, number>();
  const functions = new Map<string, number>();
  let total = 0;
  let fromEnd = 0;
  for (let index = profile.samples.length - 1; index >= 0 && fromEnd < lastSeconds * 1e6; index -= 1) {
    const id = profile.samples[index]!;
    const micros = profile.timeDeltas[index + 1] ?? 0;
    fromEnd += micros;
    const frame = nodes.get(id)!.callFrame;
    if (frame.functionName === '(idle)') continue;
    total += micros;
    add(parts, findPart(id), micros);
    add(functions, functionName(frame), micros);
  }
  return { byPart: shares(parts, total), byFunction: shares(functions, total) };
}

/** The part that a frame belongs to. Undefined for crypto, timers and native functions, which count for their caller. */
function partName({ functionName, url }: CallFrame): string | undefined {
  if (functionName === '(garbage collector)') return 'garbage collection';
  if (functionName === '(program)') return 'Node.js, native';
  const path = relative(url);
  if (path.startsWith('server/src/')) return path;
  if (path.startsWith('node_modules/')) return /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  if (/^node:(_http|net|internal\/(http|streams?|stream_base))/.test(url)) return 'node:http and sockets';
  return undefined;
}

function functionName({ functionName: name, url, lineNumber }: CallFrame): string {
  return url === '' ? name || '(native)' : `${name || '(anonymous)'} ${relative(url)}:${lineNumber + 1}`;
}

function relative(url: string): string {
  return url.replace(`file://${root}/`, '');
}

function add(sums: Map<string, number>, name: string, micros: number): void {
  sums.set(name, (sums.get(name) ?? 0) + micros);
}

function shares(sums: Map<string, number>, total: number): [string, number][] {
  return [...sums]
    .map(([name, micros]): [string, number] => [name, micros / total])
    .sort((a, b) => b[1] - a[1]);
}
