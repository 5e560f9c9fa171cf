import { counted, cutText } from '../../../runtime/src/pure/text.ts';
import type { Source, Verdict } from '../port/model.ts';

/** A reply of the extractive model starts with this if it only lists the closest passages. */
export const noDirectAnswer = 'I did not find a direct answer.';

interface SupportedReply {
  /** The name of the model that wrote it. */
  readonly model: string | null;
  readonly content: string;
  readonly sources: readonly Source[] | null;
}

/** Says how the documents support a reply, such as `7 of 9 statements found in 2 sources`. Null if they do not. */
export function describeSupport(
  { model, content, sources }: SupportedReply,
  verdict: Pick<Verdict, 'statements' | 'found'> | null,
): string | null {
  const count = sources?.length ?? 0;
  if (verdict !== null) return describeVerdict(verdict, count);
  // The extractive model quotes its sources, so there is nothing to check. Quotes that do not answer are no support.
  if (model !== 'extractive' || count === 0 || content.startsWith(noDirectAnswer)) return null;
  return `Quoted from ${counted(count, 'source')}`;
}

export function describeVerdict(
  { statements, found }: Pick<Verdict, 'statements' | 'found'>,
  sourceCount: number,
): string {
  const place = found === 0 ? 'the documents' : counted(sourceCount, 'source');
  if (statements === 1) return `The statement was ${found === 1 ? '' : 'not '}found in ${place}`;
  const count = found === 0 ? 'None' : found === statements ? 'All' : `${found}`;
  return `${count}${found === statements ? '' : ' of'} ${statements} statements found in ${place}`;
}

const titleLengthMax = 255;

/** Adds the file's name to a title that several sources of a reply have: 'Overview (billing/overview.md)'. */
export function distinguishTitles(sources: readonly (Source & { readonly name: string })[]): Source[] {
  const sharing = Map.groupBy(sources, ({ title }) => title);
  return sources.map(({ name, ...source }) => {
    if (sharing.get(source.title)!.length === 1) return source;
    return { ...source, title: cutText(`${source.title} (${name})`, titleLengthMax) };
  });
}
