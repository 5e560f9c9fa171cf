/** A number of bytes for people: `50 MB`. */
export function bytesInWords(bytes: number): string {
  const [unit, size] = bytes >= 1024 ** 2 ? ['MB', 1024 ** 2] : bytes >= 1024 ? ['kB', 1024] : ['bytes', 1];
  return `${Number((bytes / (size as number)).toFixed(1))} ${unit}`;
}
