/** Sets an entry of a map, and removes the oldest one if the map has grown above its limit. */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, entriesMax: number): void {
  map.set(key, value);
  dropOldest(map, entriesMax);
}

export function dropOldest<Key>(map: Map<Key, unknown>, entriesMax: number): void {
  if (map.size > entriesMax) map.delete(map.keys().next().value as Key);
}
