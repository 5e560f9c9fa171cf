import { setImmediate as turn } from 'node:timers/promises';
import type { Documents, PassageNumber } from '../../storage/store.ts';

type FindPassages = (terms: readonly string[], holdersMax: number) => ReturnType<Documents['findPassages']>;

/** How many holders of a term are looked at, and of a word of the question itself. 1,000 take about 0.2 ms. */
const holdersMax = 1_000;
const holdersMaxOfQuestion = 4_000;
/** Terms per call, so that nobody else waits longer than about 2 ms. */
const termsPerCall = 40;
const questionTermsMax = 6;

/** What one search has looked up so far. */
export class TermIndex {
  readonly #find: FindPassages;
  readonly #holders = new Map<string, readonly PassageNumber[]>();
  passageCount = 0;

  constructor(find: FindPassages) {
    this.#find = find;
  }

  /** The passages that hold the term, as far as they were looked at. */
  holders(term: string): readonly PassageNumber[] {
    return this.#holders.get(term) ?? [];
  }

  /** How many passages hold the term. Where not all were looked at it is taken to be frequent. */
  held(term: string): number {
    const { length } = this.holders(term);
    return length === holdersMax ? Math.min(holdersMaxOfQuestion, this.passageCount) : length;
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

  /** Looks further for the holders of terms that have more than were looked at: only together they tell. */
  async lookUpFully(terms: readonly string[]): Promise<void> {
    const frequent = [...new Set(terms)].filter((term) => this.holders(term).length >= holdersMax);
    for (const term of frequent.slice(0, questionTermsMax)) {
      await turn();
      await this.#ask([term], holdersMaxOfQuestion);
    }
  }

  async #ask(terms: readonly string[], limit: number): Promise<void> {
    const { passageCount, holders } = await this.#find(terms, limit);
    this.passageCount = passageCount;
    for (const [at, term] of terms.entries()) this.#holders.set(term, holders[at] ?? []);
  }
}
