/** The number of characters to insert, remove or replace to turn one text into the other. */
export function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [place, letter] of [...one].entries()) {
    const next = [place + 1];
    for (let index = 0; index < other.length; index += 1) {
      const replaced = row[index]! + (other[index] === letter ? 0 : 1);
      next.push(Math.min(replaced, row[index + 1]! + 1, next[index]! + 1));
    }
    row = next;
  }
  return row[other.length]!;
}
