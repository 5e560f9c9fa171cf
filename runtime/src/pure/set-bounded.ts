/** Sets an entry of a map, and removes the oldest one if the map has grown above its limit. */
export function setBounded<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  entriesMax: number,
): void {
  map.set(key, value);
  if (map.size > entriesMax) map.delete(map.keys().next().value as Key);
}
