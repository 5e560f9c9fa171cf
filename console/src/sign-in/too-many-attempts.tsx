import { Alert } from '@mantine/core';
import { IconClock } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import type { ApiError } from '../api/request.ts';
import { formatWait } from '../app/format-time.ts';

/** Shows how long to wait, and counts down. Screen readers announce it once. */
export function TooManyAttempts({ error, of = 'failed attempts' }: { error: ApiError; of?: string }) {
  const waitSeconds = error.retryAfterSeconds ?? 60;
  const [left, setLeft] = useState(waitSeconds);
  useEffect(() => {
    const until = Date.now() + waitSeconds * 1_000;
    const tick = () => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1_000)));
    tick();
    const timer = setInterval(tick, 1_000);
    return () => clearInterval(timer);
  }, [waitSeconds]);
  return (
    <Alert color="yellow" variant="light" icon={<IconClock aria-hidden />} title={`Too many ${of}`}>
      <span role="alert">{`Wait ${formatWait(waitSeconds)}, then try again.`}</span>{' '}
      <span aria-hidden>{left === 0 ? 'You can try again now.' : `${formatWait(left)} left.`}</span>
    </Alert>
  );
}
