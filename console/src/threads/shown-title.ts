/** Embeddings, overrides and isolates. They would also reverse what follows the title. */
const directions = /[\u202A-\u202E\u2066-\u2069]/g;

/**
 * The API accepts any title. One without a visible character, such as a space, would leave a link or a heading empty, and
 * one with a character that sets the direction of text could imitate another title.
 */
export function shownTitle(title: string): string {
  const shown = title.replace(directions, '');
  return /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(shown) ? shown : 'Untitled';
}
