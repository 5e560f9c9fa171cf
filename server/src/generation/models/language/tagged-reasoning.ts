export type ModelText =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'reasoning-end' };

const opening = '<think>';
const closing = '</think>';
/** How much white space may precede the tag. */
const spaceMax = 32;

/** Finds the reasoning that many local servers leave in a model's text, between tags at its start. */
export class TaggedReasoning {
  #type: 'text' | 'reasoning' | undefined;
  /** The start of what may become a tag. */
  #held = '';

  *take(piece: string): Generator<ModelText> {
    if (this.#type === 'text') return yield { type: 'text', text: piece };
    this.#held += piece;
    if (this.#type === undefined) {
      const start = this.#held.trimStart();
      const isStart = this.#held.length - start.length <= spaceMax;
      if (isStart && opening.startsWith(start) && start !== opening) return;
      if (!isStart || !start.startsWith(opening)) return yield* this.end();
      this.#type = 'reasoning';
      this.#held = start.slice(opening.length);
    }
    const end = this.#held.indexOf(closing);
    const shown = end === -1 ? this.#held.length - closing.length + 1 : end;
    if (shown > 0) yield { type: 'reasoning', text: this.#held.slice(0, shown) };
    if (end === -1) {
      this.#held = this.#held.slice(Math.max(0, shown));
    } else {
      yield { type: 'reasoning-end' };
      this.#held = this.#held.slice(end + closing.length);
      this.#type = undefined;
      yield* this.end();
    }
  }

  *end(): Generator<ModelText> {
    const type = this.#type ?? 'text';
    if (this.#held !== '') yield { type, text: this.#held };
    if (type === 'reasoning') yield { type: 'reasoning-end' };
    this.#type = 'text';
    this.#held = '';
  }
}
