import { Skeleton, VisuallyHidden } from '@mantine/core';
import classes from './thread.module.css';

/** A placeholder in the shape of a thread. */
export function ThreadSkeleton() {
  return (
    <div className={classes.page} aria-busy="true">
      <div className={classes.column}>
        <div className={classes.header}>
          <Skeleton height="1.9rem" width="55%" />
          <Skeleton height="1.1rem" width="30%" mt={10} />
        </div>
        <MessagesSkeleton />
      </div>
    </div>
  );
}

export function MessagesSkeleton() {
  return (
    <div aria-busy="true">
      <VisuallyHidden>Loading thread</VisuallyHidden>
      <Skeleton height="2.75rem" width="60%" ml="auto" mt="lg" radius="lg" />
      {['95%', '88%', '92%', '40%'].map((width) => (
        <Skeleton key={width} height="0.9rem" width={width} mt="md" />
      ))}
    </div>
  );
}
