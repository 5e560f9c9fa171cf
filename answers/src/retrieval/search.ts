import type { PassageNumber, PassageStore } from '../port/documents.ts';
import { listWordings, respellings } from './other-wordings.ts';
import { type Concept, expectedBy, extractConcepts } from './question.ts';
import { otherWording, rankPassages, type WeighedConcept } from './ranking.ts';

export type SearchFindings = Awaited<ReturnType<typeof searchPassages>>;

/** How many texts are read and ranked. */
const candidatesMax = 24;
/** How many passages per term are read: 1,000 take about 0.2 ms. */
const holdersMax = 500;
/** How many spellings of a word one query looks for, because most of them occur nowhere. */
const spellingsPerQuery = 12;
/** The weight of a word in the context of a question relative to one in the question. */
const contextWeight = 0.8;
const respelledMax = 3;
const combinedMax = 6;

/** Finds candidates by their words in the index, then ranks the texts of the best. The words of `context` count less. */
export async function searchPassages(
  store: PassageStore,
  organizationId: string,
  accountId: string | null,
  question: string,
  limit: number,
  context = '',
) {
  const index = new TermIndex((terms) => store.findPassages(organizationId, accountId, terms, holdersMax));
  const questionConcepts = extractConcepts(question, context);
  await index.lookUp(questionConcepts.flatMap(({ term }) => listWordings(term)));
  const concepts = await weighed(questionConcepts, index);
  await index.lookUpTogether(questionConcepts.map(({ term }) => term));
  const read = await store.readPassages(organizationId, accountId, nominate(concepts, index));
  // 'Tell me more' does not repeat what the previous question asked for, such as a price.
  const asksForSame = questionConcepts.some(({ isContext }) => !isContext);
  const countExpected = expectedBy(question) ?? (asksForSame ? expectedBy(context) : undefined);
  const ranked = rankPassages(concepts, read, limit, countExpected);
  const passages = ranked.map(({ passage }) => passage);
  return { searched: index.passageCount, passages, concepts, countExpected, ranked };
}

class TermIndex {
  readonly #find;
  readonly #holders = new Map<string, readonly PassageNumber[]>();
  passageCount = 0;

  constructor(find: (terms: readonly string[]) => ReturnType<PassageStore['findPassages']>) {
    this.#find = find;
  }

  /** Passages that contain the term: all of them, or the first ones. */
  holders(term: string): readonly PassageNumber[] {
    return this.#holders.get(term) ?? [];
  }

  /** How many passages contain the term. If only the first were read, it is assumed to be frequent. */
  frequency(term: string): number {
    const { length } = this.holders(term);
    return length < holdersMax ? length : Math.max(length, this.passageCount / 4);
  }

  readonly occurs = (term: string): boolean => this.frequency(term) > 0;

  rarity(frequency: number): number {
    return Math.log(1 + (this.passageCount - frequency + 0.5) / (frequency + 0.5));
  }

  async lookUp(terms: readonly string[]): Promise<void> {
    const unknown = [...new Set(terms)].filter((term) => !this.#holders.has(term));
    // Without a term, the answer still contains the number of passages.
    if (unknown.length === 0 && this.passageCount > 0) return;
    const { passageCount, holders } = await this.#find(unknown);
    this.passageCount = passageCount;
    for (const [at, term] of unknown.entries()) this.#holders.set(term, holders[at]!);
  }

  /** Looks for groups of terms first, and then for each term of the groups that were found. */
  async lookUpRare(terms: readonly string[]): Promise<void> {
    const toGroup = (_: string, at: number) => Math.floor(at / spellingsPerQuery);
    const groups = [...Map.groupBy(terms, toGroup).values()];
    if (groups.length === 0) return;
    const { holders } = await this.#find(groups.map((group) => group.join('|')));
    await this.lookUp(groups.filter((_, at) => holders[at]!.length > 0).flat());
  }

  /** If only the first passages of a word were read, finds passages that contain the rarest words of the question together. */
  async lookUpTogether(terms: readonly string[]): Promise<void> {
    const isPartial = (term: string) => this.holders(term).length >= holdersMax;
    const rarestFirst = terms
      .filter(this.occurs)
      .sort((a, b) => this.frequency(a) - this.frequency(b))
      .slice(0, combinedMax);
    if (rarestFirst.length < 2 || !rarestFirst.some(isPartial)) return;
    const groups = rarestFirst.slice(1).map((_, at) => rarestFirst.slice(0, at + 2));
    const { holders } = await this.#find(groups.map((group) => group.join(' ')));
    for (const [at, group] of groups.entries())
      for (const term of group.filter(isPartial))
        this.#holders.set(term, [...new Set([...this.holders(term), ...holders[at]!])]);
  }
}

async function weighed(asked: readonly Concept[], index: TermIndex): Promise<WeighedConcept[]> {
  const weighRarity = ({ isContext }: Concept, term: string) =>
    (isContext ? contextWeight : 1) * index.rarity(index.frequency(term));
  const total = asked.reduce((sum, concept) => sum + weighRarity(concept, concept.term), 0);
  const concepts: WeighedConcept[] = [];
  let respelled = 0;
  for (const concept of asked) {
    const weight = weighRarity(concept, concept.term) / total;
    let terms = listWordings(concept.term).filter(index.occurs);
    // A word that no passage contains may be misspelled.
    if (terms.length === 0 && respelled++ < respelledMax) terms = await respelledTerms(concept.word, index);
    const wordings = terms.map((term) => {
      if (term === concept.term) return { term, weight };
      // A synonym never weighs more than the word in the question, however rare it is.
      return { term, weight: otherWording * Math.min(weight, weighRarity(concept, term) / total) };
    });
    wordings.sort((a, b) => b.weight - a.weight);
    concepts.push({ ...concept, weight, wordings });
  }
  return concepts;
}

/** The most frequent correct spelling of a word, or one whose synonym occurs, and its synonyms. */
async function respelledTerms(word: string, index: TermIndex): Promise<string[]> {
  const spellings = respellings(word);
  await index.lookUpRare(spellings.flatMap(listWordings));
  const frequentFirst = spellings.toSorted((a, b) => index.frequency(b) - index.frequency(a));
  const known = frequentFirst.map((term) => listWordings(term).filter(index.occurs));
  return known.find(({ length }) => length > 0) ?? [];
}

function nominate(concepts: readonly WeighedConcept[], index: TermIndex): PassageNumber[] {
  const sums = new Map<PassageNumber, number>();
  for (const { wordings } of concepts) {
    // Best last, so that a passage counts with the best wording that it contains.
    const worstFirst = wordings.toReversed();
    const held = worstFirst.flatMap(({ term, weight }) =>
      index.holders(term).map((number) => [number, weight] as const),
    );
    for (const [number, weight] of new Map(held)) sums.set(number, (sums.get(number) ?? 0) + weight);
  }
  return [...sums]
    .sort(([a, sumOfA], [b, sumOfB]) => sumOfB - sumOfA || a - b)
    .slice(0, candidatesMax)
    .map(([number]) => number);
}
