/** The API accepts a title without a visible character, such as a space. It would leave a link or a heading empty. */
export function shownTitle(title: string): string {
  return /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(title) ? title : 'Untitled';
}
