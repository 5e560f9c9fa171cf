import { Link, type LinkComponentProps } from '@tanstack/react-router';
import { createContext, useContext } from 'react';
import type { Json } from '../api/contract.ts';

/** When the reply was written: a document may have been replaced since. */
export const WrittenAt = createContext<string | undefined>(undefined);

interface DocumentLinkProps extends Omit<LinkComponentProps<'a'>, 'to' | 'params' | 'search'> {
  readonly source: Json<'source'>;
  /** The words of the reply that cite the source. */
  readonly cited?: string | undefined;
}

/** Opens a source's document at the cited passage. */
export function DocumentLink({ source: { id, snippet }, cited = '', ...props }: DocumentLinkProps) {
  const since = useContext(WrittenAt);
  const search = {
    ...(cited !== '' && { cited }),
    ...(snippet !== '' && { snippet }),
    ...(since !== undefined && { since }),
  };
  return <Link to="/documents/$documentId" params={{ documentId: id }} search={search} {...props} />;
}
