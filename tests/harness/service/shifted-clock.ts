export const dayMs = 86_400_000;

/** The environment of a process whose clock is off by `ms`. */
export function clockOffBy(ms: number): Record<string, string> {
  const script = `const now = Date.now; Date.now = () => now() + ${ms};`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

/** The environment of a process that starts at noon UTC, so that tests that depend on the day do not cross midnight. */
export function clockAtNoon(daysLater = 0): Record<string, string> {
  return clockOffBy((daysLater + 0.5) * dayMs - (Date.now() % dayMs));
}

/** The environment of a process whose clock jumps ahead by `ms` with every SIGUSR2. */
export function clockThatLeaps(ms: number): Record<string, string> {
  const script = `const now = Date.now; let ahead = 0; Date.now = () => now() + ahead; process.on('SIGUSR2', () => { ahead += ${ms}; });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}
