import { UnstyledButton } from '@mantine/core';
import { IconArrowUpRight } from '@tabler/icons-react';
import classes from './first-minutes.module.css';

interface ExampleQuestionsProps {
  readonly questions: readonly string[];
  readonly disabled: boolean;
  readonly onAsk: (question: string) => void;
}

/** Questions that the documents answer. A click asks one. */
export function ExampleQuestions({ questions, disabled, onAsk }: ExampleQuestionsProps) {
  return (
    <section aria-labelledby="examples">
      <h2 id="examples" className={classes.heading}>
        Try a question
      </h2>
      <ul className={classes.examples}>
        {questions.map((question) => (
          <li key={question}>
            <UnstyledButton className={classes.example} disabled={disabled} onClick={() => onAsk(question)}>
              <span>{question}</span>
              <IconArrowUpRight size={16} aria-hidden />
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </section>
  );
}
