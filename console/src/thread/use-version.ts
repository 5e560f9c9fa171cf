import { useState } from 'react';

export interface VersionChoice {
  /** From 0. */
  readonly at: number;
  readonly count: number;
  readonly show: (at: number) => void;
}

/** Which of `count` versions is shown: the latest one, until the person chooses another. A new version is shown at once. */
export function useVersion(count: number): VersionChoice {
  const [chosen, setChosen] = useState<{ readonly at: number; readonly count: number }>();
  const at = chosen?.count === count ? chosen.at : count - 1;
  return { at, count, show: (next) => setChosen({ at: next, count }) };
}
