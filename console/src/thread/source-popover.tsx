import { Anchor, CloseButton, Group, Popover, Text } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { type ReactElement, useState } from 'react';
import type { SourceJson } from '../api/contract.ts';
import classes from './reply.module.css';
import { outside, webLink } from './safe-link.ts';
import hidden from './unseen.module.css';

interface SourcePopoverProps {
  readonly source: SourceJson;
  readonly number: number;
  /** Renders the button that calls `toggle`. */
  readonly children: (toggle: () => void) => ReactElement;
}

/** Shows the passage that a statement cites. */
export function SourcePopover({ source, number, children }: SourcePopoverProps) {
  const [opened, setOpened] = useState(false);
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-start"
      width="min(26rem, calc(100vw - 2rem))"
      shadow="md"
      trapFocus
      returnFocus
      middlewares={{ shift: { padding: 16 }, flip: true }}
    >
      <Popover.Target>{children(() => setOpened((before) => !before))}</Popover.Target>
      <Popover.Dropdown aria-label={`Source ${number}: ${source.title}`} data-testid="passage">
        <Passage source={source} number={number} onClose={() => setOpened(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}

function Passage({ source, number, onClose }: { source: SourceJson; number: number; onClose: () => void }) {
  const url = webLink(source.url);
  return (
    <>
      <Group wrap="nowrap" align="flex-start" justify="space-between" gap="xs">
        <Text fw={600} size="sm" className={classes.anywhere}>
          {number}. {source.title}
        </Text>
        <CloseButton size="sm" aria-label="Close" onClick={onClose} />
      </Group>
      <blockquote className={classes.passage}>
        {source.snippet === '' ? 'No excerpt available for this source.' : source.snippet}
      </blockquote>
      {url !== undefined && (
        <Anchor href={url} {...outside} size="sm" className={classes.anywhere}>
          Open {new URL(url).host} <IconExternalLink size={14} aria-hidden className={classes.inlineIcon} />
          <span className={hidden.unseen}>(opens in a new window)</span>
        </Anchor>
      )}
    </>
  );
}
