import { ActionIcon } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { useState } from 'react';
import { announce } from '../app/announcer.tsx';
import classes from './versions.module.css';

/** Pages through the versions of a prompt or a reply: "2 / 3" between two arrows. */
export function VersionPager({ of, version }: { of: 'prompt' | 'reply'; version: VersionChoice }) {
  const { at, count, show } = version;
  if (count < 2) return null;
  const go = (next: number) => {
    show(next);
    announce(`Version ${next + 1} of ${count}`);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms.
    <div role="group" aria-label={`Versions of the ${of}`} className={classes.pager}>
      <Arrow label={`Previous version of the ${of}`} isOff={at === 0} onClick={() => go(at - 1)}>
        <IconChevronLeft size={16} aria-hidden />
      </Arrow>
      <span className={classes.place}>
        {at + 1} / {count}
      </span>
      <Arrow label={`Next version of the ${of}`} isOff={at === count - 1} onClick={() => go(at + 1)}>
        <IconChevronRight size={16} aria-hidden />
      </Arrow>
    </div>
  );
}

interface ArrowProps {
  readonly label: string;
  readonly isOff: boolean;
  readonly onClick: () => void;
  readonly children: React.ReactNode;
}

/** Not `disabled` at the end: the focus would be lost. */
function Arrow({ label, isOff, onClick, children }: ArrowProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      aria-disabled={isOff}
      {...(isOff && { 'data-disabled': true })}
      onClick={() => !isOff && onClick()}
    >
      {children}
    </ActionIcon>
  );
}

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
