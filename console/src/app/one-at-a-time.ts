import { useRef } from 'react';

/** Ignores calls while one is running: the second click of two can come before the button is disabled. */
export function useOneAtATime<Arguments extends readonly unknown[]>(
  act: (...given: Arguments) => Promise<unknown>,
): (...given: Arguments) => void {
  const isRunning = useRef(false);
  return (...given) => {
    if (isRunning.current) return;
    isRunning.current = true;
    // The mutation reports its errors.
    act(...given)
      .catch(() => undefined)
      .finally(() => {
        isRunning.current = false;
      });
  };
}
