import { Button } from '@mantine/core';
import { memo, useState } from 'react';
import type { UserMessageJson } from '../api/contract.ts';
import classes from './prompt.module.css';
import hidden from './unseen.module.css';

const lengthMax = 1_200;
const linesMax = 14;

/** Only the beginning of a very long prompt is shown, because readers look for the replies. */
function PromptOf({ prompt, author }: { prompt: UserMessageJson; author: string }) {
  const { content } = prompt;
  const isLong = content.length > lengthMax || content.split('\n', linesMax + 1).length > linesMax;
  const [isWhole, setWhole] = useState(false);
  return (
    <article className={classes.prompt} data-testid="prompt">
      <h2 className={hidden.unseen}>{author} asked</h2>
      <div className={classes.bubble}>
        <div className={classes.text} data-cut={(isLong && !isWhole) || undefined}>
          {content}
        </div>
        {isLong && (
          <Button
            size="compact-sm"
            variant="subtle"
            mt={4}
            onClick={() => setWhole(!isWhole)}
            aria-expanded={isWhole}
          >
            {isWhole ? 'Show less' : 'Show all'}
          </Button>
        )}
      </div>
    </article>
  );
}

export const Prompt = memo(PromptOf);
