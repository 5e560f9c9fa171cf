import { Anchor, Button, CloseButton, Group, Popover, Text } from '@mantine/core';
import { IconExternalLink, IconFileText } from '@tabler/icons-react';
import { type ReactElement, useState } from 'react';
import type { SourceJson } from '../api/contract.ts';
import { DocumentLink } from './document-link.tsx';
import classes from './reply.module.css';
import { outside, webLink } from './safe-link.ts';
import hidden from './unseen.module.css';

interface SourcePopoverProps {
  readonly source: SourceJson;
  readonly number: number;
  /** Returns the words of the reply before the citation. */
  readonly citedText?: () => string;
  /** Renders the button that calls `toggle`. */
  readonly children: (toggle: () => void) => ReactElement;
}

/** Shows the passage that a statement cites, with a link to it in its document. */
export function SourcePopover({ source, number, citedText, children }: SourcePopoverProps) {
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
        <Passage source={source} number={number} citedText={citedText} onClose={() => setOpened(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}

interface PassageProps extends Pick<SourcePopoverProps, 'source' | 'number'> {
  readonly citedText: (() => string) | undefined;
  readonly onClose: () => void;
}

function Passage({ source, number, citedText, onClose }: PassageProps) {
  const url = webLink(source.url);
  const [cited] = useState(citedText);
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
      <Group gap="md">
        <Button
          renderRoot={(props) => <DocumentLink source={source} cited={cited} {...props} />}
          size="xs"
          variant="light"
          leftSection={<IconFileText size={16} aria-hidden />}
        >
          Open document
        </Button>
        {url !== undefined && (
          <Anchor href={url} {...outside} size="sm" className={classes.anywhere}>
            Open {new URL(url).host} <IconExternalLink size={14} aria-hidden className={classes.inlineIcon} />
            <span className={hidden.unseen}>(opens in a new window)</span>
          </Anchor>
        )}
      </Group>
    </>
  );
}
