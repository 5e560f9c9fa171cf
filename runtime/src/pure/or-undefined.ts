/** The value, or undefined if computing it throws. */
export function orUndefined<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch {
    return undefined;
  }
}
