import { Fragment } from 'react';

/** An address that breaks, where it must, behind its @. */
export function Email({ address }: { address: string }) {
  return address.split(/(?<=@)/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a part is known by its place.
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
