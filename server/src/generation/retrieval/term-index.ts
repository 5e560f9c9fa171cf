import { setImmediate as turn } from 'node:timers/promises';
import type { Documents, PassageNumber } from '../../storage/store.ts';

type FindPassages = (terms: readonly string[], holdersMax: number) => ReturnType<Documents['findPassages']>;

/** How many holders of a term are looked at, and of a word of the question itself: 1,000 take about 0.2 ms. */
const holdersMax = 500;
const holdersMaxOfQuestion = 4_000;
/** Terms per call, so that nobody else waits longer than about 2 ms. */
const termsPerCall = 40;
const togetherMax = 6;

/** What one search has looked up so far. */
export class TermIndex {
  readonly #find: FindPassages;
  readonly #holders = new Map<string, Set<PassageNumber>>();
  readonly #held = new Map<string, number>();
  passageCount = 0;

  constructor(find: FindPassages) {
    this.#find = find;
  }

  /** Passages that hold the term: all of them, or those that were looked at. */
  holders(term: string): ReadonlySet<PassageNumber> {
    return this.#holders.get(term) ?? none;
  }

  /** How many passages hold the term. Where not all were looked at it is taken to be frequent. */
  held(term: string): number {
    return this.#held.get(term) ?? 0;
  }

  async lookUp(terms: readonly string[]): Promise<void> {
    const unknown = [...new Set(terms)].filter((term) => !this.#holders.has(term));
    for (let from = 0; from < unknown.length; from += termsPerCall) {
      if (from > 0) await turn();
      await this.#ask(unknown.slice(from, from + termsPerCall), holdersMax);
    }
    // Without a term the answer still says how many passages there are.
    if (this.passageCount === 0) await this.#ask([], holdersMax);
  }

  /**
   * Looks further for words of the question that many passages hold: at more of the holders of each, and then at those
   * that hold several of the words.
   */
  async lookUpTogether(terms: readonly string[]): Promise<void> {
    const known = [...new Set(terms)].filter((term) => this.held(term) > 0);
    for (const term of known.filter((one) => this.holders(one).size >= holdersMax).slice(0, togetherMax)) {
      await turn();
      await this.#ask([term], holdersMaxOfQuestion);
    }
    const rarestFirst = known.sort((a, b) => this.held(a) - this.held(b)).slice(0, togetherMax);
    const isPartial = (term: string) => this.holders(term).size >= holdersMaxOfQuestion;
    if (rarestFirst.length < 2 || !rarestFirst.some(isPartial)) return;
    for (const together of combinations(rarestFirst)) {
      if (!together.some(isPartial)) continue;
      await turn();
      const { holders } = await this.#find([together.join(' ')], holdersMax);
      for (const term of together)
        for (const number of holders[0] ?? []) this.#holders.get(term)!.add(number);
    }
  }

  async #ask(terms: readonly string[], limit: number): Promise<void> {
    const { passageCount, holders } = await this.#find(terms, limit);
    this.passageCount = passageCount;
    for (const [at, term] of terms.entries()) {
      const found = holders[at] ?? [];
      const isPartial = found.length === limit;
      this.#holders.set(term, new Set(found));
      this.#held.set(term, isPartial ? Math.min(holdersMaxOfQuestion, passageCount) : found.length);
    }
  }
}

const none: ReadonlySet<PassageNumber> = new Set();

/** All of them, all but one, and the first with each other. */
function combinations(terms: readonly string[]): string[][] {
  const [first = '', ...others] = terms;
  const allButOne = terms.length > 2 ? terms.map((left) => terms.filter((term) => term !== left)) : [];
  const pairs = terms.length > 3 ? others.map((other) => [first, other]) : [];
  return [[...terms], ...allButOne, ...pairs];
}
