import type { FoundPassage } from '../../../domain/document.ts';
import { shortened } from '../../../domain/text.ts';
import { type DraftEvent, type PassageSearch, type ReplyRequest, searchStep } from '../../model.ts';
import { keepable } from './keepable-text.ts';
import { numberedPassage, questionIn } from './prompt.ts';

const passagesFirst = 8;
const passagesPerSearch = 5;
/** A model that searches more fills its context and might never answer. */
const searchesMax = 8;
const readingStepsMax = 3;
const queryLengthMax = 80;

/** The searches of one draft. Passages are numbered from 1 in the order in which the model receives them. */
export class PassageSearches {
  readonly #library: PassageSearch;
  readonly #request: ReplyRequest;
  readonly #secret: string | undefined;
  readonly #passages: FoundPassage[] = [];
  readonly #titlesRead = new Set<string>();
  #searches = 0;
  #pending: DraftEvent[] = [];

  constructor(library: PassageSearch, request: ReplyRequest, secret: string | undefined) {
    this.#library = library;
    this.#request = request;
    this.#secret = secret;
  }

  get passages(): readonly FoundPassage[] {
    return this.#passages;
  }

  /** The events since the last call. */
  take(): DraftEvent[] {
    const events = this.#pending;
    this.#pending = [];
    return events;
  }

  /** Searches for the user's question. Resolves to whether there are documents. */
  async first(): Promise<boolean> {
    const question = questionIn(this.#request.conversation);
    const { searched, passages } = await this.#find(question, passagesFirst);
    if (searched === 0) return false;
    this.#step(searchStep(searched));
    this.#give(passages);
    return true;
  }

  /** Searches for the model's query. Resolves to the text that the model receives. */
  async further(query: string): Promise<string> {
    this.#searches++;
    if (this.#searches > searchesMax)
      return 'You have searched enough. Answer from the passages that you have.';
    this.#step(`Searching the documents for “${shortened(keepable(query, this.#secret), queryLengthMax)}”`);
    const { passages } = await this.#find(query, passagesPerSearch);
    if (passages.length === 0) return 'No passages were found.';
    this.#give(passages.filter((passage) => this.#numberOf(passage) === 0));
    return passages.map((passage) => numberedPassage(passage, this.#numberOf(passage))).join('\n\n');
  }

  #find(question: string, limit: number) {
    const { organizationId, accountId, signal } = this.#request;
    return this.#library.search(organizationId, accountId, question, limit, signal);
  }

  #give(passages: readonly FoundPassage[]): void {
    if (passages.length === 0) return;
    const titles = new Set(
      passages.map(({ title }) => title).filter((title) => !this.#titlesRead.has(title)),
    );
    for (const title of [...titles].slice(0, readingStepsMax)) {
      this.#titlesRead.add(title);
      this.#step(`Reading ${shortened(keepable(title, this.#secret), queryLengthMax)}`);
    }
    this.#passages.push(...passages);
    this.#pending.push({ type: 'passages', passages });
  }

  #step(description: string): void {
    this.#pending.push({ type: 'step', description });
  }

  /** 0 if the model has not received the passage yet. */
  #numberOf(passage: FoundPassage): number {
    const index = this.#passages.findIndex(
      (known) =>
        known.documentId === passage.documentId &&
        known.heading === passage.heading &&
        known.text === passage.text,
    );
    return index + 1;
  }
}
