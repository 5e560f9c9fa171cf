import { Link } from '@tanstack/react-router';
import type { OpenedDocumentJson } from '../api/contract.ts';
import classes from './document.module.css';
import { headingsBetween } from './heading-path.ts';
import { passageAnchor } from './passage.tsx';

/** The headings of a document, each a link to its first passage. */
export function DocumentContents({ headings }: Pick<OpenedDocumentJson, 'headings'>) {
  const entries = headings.flatMap(({ heading, position }, at) =>
    headingsBetween(headings[at - 1]?.heading ?? '', heading).map((entry) => ({ ...entry, position })),
  );
  return (
    <ol className={classes.contents}>
      {entries.map(({ text, depth, position }) => (
        <li key={`${position} ${depth}`} data-depth={Math.min(depth, 4)}>
          <Link to="." search={true} hash={passageAnchor(position)}>
            {text}
          </Link>
        </li>
      ))}
    </ol>
  );
}
