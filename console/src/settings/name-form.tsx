import { Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { useLimits } from '../app/session.tsx';
import { FormActions } from './form-actions.tsx';
import { useChange } from './use-change.ts';

interface NameFormProps<Result> {
  /** Where the name is sent, below the organization. */
  readonly path: string;
  readonly description: string;
  readonly submitLabel: string;
  readonly failure: string;
  readonly onCreated: (result: Result) => void;
  readonly onCancel: () => void;
  /** Text above the field. */
  readonly children?: ReactNode;
}

/** Creates something that needs only a name. */
export function NameForm<Result>(props: NameFormProps<Result>) {
  const { path, description, onCreated, children, ...actions } = props;
  const change = useChange<Result>();
  const { nameLengthMax } = useLimits();
  const form = useForm({ initialValues: { name: '' }, validate: { name: nameProblem } });
  const submit = form.onSubmit(({ name }) =>
    change.mutate({ method: 'POST', path, body: { name: name.trim() } }, { onSuccess: onCreated }),
  );
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {children}
        <TextInput
          label="Name"
          description={description}
          maxLength={nameLengthMax}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <FormActions change={change} {...actions} />
      </Stack>
    </form>
  );
}

export function nameProblem(name: string): string | null {
  return name.trim() === '' ? 'Enter a name' : null;
}
