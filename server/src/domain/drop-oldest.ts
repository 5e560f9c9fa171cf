/** Removes the oldest entry of a map that has grown above its limit. To be called after each added entry. */
export function dropOldest<Key>(map: Map<Key, unknown>, entriesMax: number): void {
  if (map.size > entriesMax) map.delete(map.keys().next().value as Key);
}
