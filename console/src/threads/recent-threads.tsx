import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import type { Json } from '../api/contract.ts';
import { recentOptions, threadOptions } from '../api/queries.ts';
import { useOrganization } from '../app/session.tsx';
import classes from '../app/sidebar.module.css';
import { shownTitle } from './shown-title.ts';
import { StateDot } from './state-mark.tsx';

/** The person's latest threads with their state, on every page. */
export function RecentThreads() {
  const { id } = useOrganization();
  const { data } = useQuery(recentOptions(id));
  if (data === undefined || data.threads.length === 0) return null;
  return (
    <section aria-label="Recent">
      <p className={classes.heading} aria-hidden>
        Recent
      </p>
      <ul className={classes.pages}>
        {data.threads.map((thread) => (
          <RecentThread key={thread.id} organizationId={id} thread={thread} />
        ))}
      </ul>
    </section>
  );
}

function RecentThread({ organizationId, thread }: { organizationId: string; thread: Json<'threadRow'> }) {
  const isOpen = useLocation().pathname === `/threads/${thread.id}`;
  // The page of the open thread follows its stream and sees a change first.
  const { data } = useQuery({ ...threadOptions(organizationId, thread.id), enabled: false });
  const { title, state } = isOpen && data ? { title: data.thread.title, state: data.state } : thread;
  return (
    <li>
      <Link
        to="/threads/$threadId"
        params={{ threadId: thread.id }}
        className={`${classes.place} ${classes.recent}`}
        activeProps={{ 'aria-current': 'page' }}
        title={shownTitle(title)}
      >
        <span className={classes.recentTitle} dir="auto">
          {shownTitle(title)}
        </span>
        <StateDot state={state} />
      </Link>
    </li>
  );
}
