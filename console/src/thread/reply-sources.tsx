import type { SourceJson } from '../api/contract.ts';
import { DocumentLink } from './document-link.tsx';
import classes from './reply.module.css';
import { webLink } from './safe-link.ts';

/** The sources of a reply, numbered like its citations. Each opens its document at the cited passage. */
export function ReplySources({ sources }: { sources: readonly SourceJson[] }) {
  return (
    <div className={classes.sources}>
      <h3 className={classes.smallHeading}>
        {sources.length === 1 ? '1 source' : `${sources.length} sources`}
      </h3>
      <ol className={classes.sourceList}>
        {sources.map((source, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a source is identified by its number.
          <li key={at}>
            <DocumentLink source={source} className={classes.source}>
              <span className={classes.sourceNumber}>{at + 1}</span>
              <span className={classes.sourceTitle}>{source.title}</span>
              <span className={classes.sourceHost}>{hostOf(source.url)}</span>
            </DocumentLink>
          </li>
        ))}
      </ol>
    </div>
  );
}

function hostOf(url: string | null): string {
  const link = webLink(url);
  return link === undefined ? '' : new URL(link).host;
}
