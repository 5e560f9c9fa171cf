import type { FoundPassage } from '../../../domain/document.ts';
import { shortened } from '../../../domain/text.ts';
import { type DraftEvent, type PassageSearch, type ReplyRequest, searchStep } from '../../model.ts';
import { numberedPassage, questionIn } from './prompt.ts';
import { storable } from './text-streams.ts';

const passagesFirst = 8;
const passagesPerSearch = 5;
/** A model that searches more fills its context and might never answer. */
const searchesMax = 8;
const readingStepsMax = 3;
const queryLengthMax = 80;

/** The searches of one draft. Passages are numbered from 1 in the order in which the model receives them. */
export class PassageSearches {
  readonly passages: FoundPassage[] = [];
  readonly #library: PassageSearch;
  readonly #request: ReplyRequest;
  readonly #secret: string | undefined;
  readonly #titlesRead = new Set<string>();
  #searches = 0;

  constructor(library: PassageSearch, request: ReplyRequest, secret: string | undefined) {
    this.#library = library;
    this.#request = request;
    this.#secret = secret;
  }

  /** Searches for the user's question. Returns whether there are documents. */
  async *first(): AsyncGenerator<DraftEvent, boolean> {
    const { searched, passages } = await this.#find(questionIn(this.#request.conversation), passagesFirst);
    if (searched === 0) return false;
    yield { type: 'step', description: searchStep(searched) };
    yield* this.#give(passages);
    return true;
  }

  /** Searches for the model's query. Returns the text that the model receives. */
  async *further(query: string): AsyncGenerator<DraftEvent, string> {
    this.#searches++;
    if (this.#searches > searchesMax)
      return 'You have searched enough. Answer from the passages that you have.';
    yield { type: 'step', description: `Searching the documents for “${this.#shown(query)}”` };
    const { passages } = await this.#find(query, passagesPerSearch);
    if (passages.length === 0) return 'No passages were found.';
    yield* this.#give(passages.filter((passage) => this.#numberOf(passage) === 0));
    return passages.map((passage) => numberedPassage(passage, this.#numberOf(passage))).join('\n\n');
  }

  #find(question: string, limit: number) {
    const { organizationId, accountId, signal } = this.#request;
    return this.#library.search(organizationId, accountId, question, limit, signal);
  }

  *#give(passages: readonly FoundPassage[]): Generator<DraftEvent> {
    if (passages.length === 0) return;
    const unread = passages.map(({ title }) => title).filter((title) => !this.#titlesRead.has(title));
    for (const title of [...new Set(unread)].slice(0, readingStepsMax)) {
      this.#titlesRead.add(title);
      yield { type: 'step', description: `Reading ${this.#shown(title)}` };
    }
    this.passages.push(...passages);
    yield { type: 'passages', passages };
  }

  #shown(text: string): string {
    return shortened(storable(text, this.#secret), queryLengthMax);
  }

  /** 0 if the model has not received the passage yet. */
  #numberOf({ documentId, heading, text }: FoundPassage): number {
    const isSame = (known: FoundPassage) =>
      known.documentId === documentId && known.heading === heading && known.text === text;
    return this.passages.findIndex(isSame) + 1;
  }
}
