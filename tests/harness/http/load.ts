import type { ApiResponse } from './conformance.ts';

/** Sends `count` requests, `atOnce` of them concurrently. */
export async function sendMany<T>(
  count: number,
  atOnce: number,
  send: (place: number) => Promise<T>,
): Promise<T[]> {
  const answers: T[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < count) {
        const place = next;
        next += 1;
        answers[place] = await send(place);
      }
    }),
  );
  return answers;
}

export interface LoadAround {
  /** Responses to requests that were sent before the change had ended. */
  readonly before: ApiResponse[];
  /** Responses to requests that were sent after the change. */
  readonly after: ApiResponse[];
}

const connections = 8;
const answersEach = 12;

/** Sends requests without a pause on several connections before, during and after the change. */
export async function loadAround(
  send: (place: number) => Promise<ApiResponse>,
  change: () => Promise<unknown>,
): Promise<LoadAround> {
  const load: LoadAround = { before: [], after: [] };
  let changed = false;
  let underWay = () => {};
  const warm = new Promise<void>((resolve) => {
    underWay = resolve;
  });

  const loops = Array.from({ length: connections }, async (_, connection) => {
    let sentAfter = 0;
    for (let place = connection; sentAfter < answersEach; place += connections) {
      const sentAfterChange = changed;
      const answer = await send(place);
      if (sentAfterChange) sentAfter += 1;
      load[sentAfterChange ? 'after' : 'before'].push(answer);
      if (load.before.length >= connections * answersEach) underWay();
    }
  });
  const changing = warm.then(change).then(() => {
    changed = true;
  });
  await Promise.all([changing, ...loops]);
  return load;
}
