import { nextTurn } from '../../../runtime/src/turns.ts';
import { encoded } from './route.ts';

/** Renders each part of a thread once for all responses that send it at the same time. */
export function partRenderer<Item>(slicesOf: (item: Item) => Iterable<string>) {
  const rendered = new WeakMap<readonly Item[], Promise<readonly Buffer[]>>();
  function* slices(part: readonly Item[]) {
    for (const [place, item] of part.entries()) {
      if (place > 0) yield ',';
      yield* slicesOf(item);
    }
  }
  /** The members of a JSON array, without its brackets. */
  return (organizationId: string, part: readonly Item[]): Promise<readonly Buffer[]> => {
    const known = rendered.get(part) ?? encodeInTurns(organizationId, slices(part));
    rendered.set(part, known);
    return known;
  };
}

/**
 * Characters of JSON that are made and encoded in one turn. In the worst case, control characters, it takes 2 ms.
 */
const renderedAtOnce = 32_768;

/** Encodes JSON. Making and encoding each slice is a piece of work with a turn of its own. */
export async function encodeInTurns(
  organizationId: string,
  slices: Iterable<string>,
): Promise<readonly Buffer[]> {
  const buffers: Buffer[] = [];
  let text = '';
  await nextTurn(organizationId);
  for (const slice of slices) {
    text += slice;
    if (text.length < renderedAtOnce) continue;
    buffers.push(encoded(text));
    text = '';
    await nextTurn(organizationId);
  }
  return text === '' ? buffers : [...buffers, encoded(text)];
}

/** The JSON of an object, in slices if the text under `key` is long. Nothing before it has a member of that name. */
export function* jsonSlices<Key extends string>(
  value: Readonly<Record<Key, string>>,
  key: Key,
): Generator<string> {
  const text = value[key];
  if (text.length <= renderedAtOnce) return yield JSON.stringify(value);
  const json = JSON.stringify({ ...value, [key]: '' });
  const member = `"${key}":"`;
  const start = json.indexOf(member) + member.length;
  yield json.slice(0, start);
  for (let from = 0; from < text.length; ) {
    // A surrogate pair stays together: JSON.stringify would escape the halves.
    const isInPair = (text.codePointAt(from + renderedAtOnce - 1) ?? 0) > 0xffff;
    const to = from + renderedAtOnce - Number(isInPair);
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield json.slice(start);
}
