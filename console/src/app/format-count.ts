/** `1,200`, in any browser: the console is in English. */
export const formatNumber = new Intl.NumberFormat('en').format;

/** `1 passage`, `1,200 passages` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}
