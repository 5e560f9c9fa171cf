import type { Service } from '../service/service.ts';

/** How many replies started over each time that this process found that the one that wrote them had ended or stalled. */
export function listCrashes({ output }: Service): number[] {
  const found = output.filter((line) => line.includes('"msg":"worker process ended or stalled'));
  return found.map((line) => JSON.parse(line).replies);
}
