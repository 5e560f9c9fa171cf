import { Autocomplete, type AutocompleteProps, CloseButton } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconBuildingStore } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { accountsOptions } from '../api/queries.ts';
import { useLimits, useOrganization } from '../app/session.tsx';

interface AccountFieldProps
  extends Pick<AutocompleteProps, 'label' | 'description' | 'placeholder' | 'aria-label'> {
  readonly account: string;
  /** An account was chosen, typed out, or cleared (`''`). */
  readonly onAccount: (account: string) => void;
}

/** The id of an account, with existing ones as suggestions. Any other id is also valid: using it creates the account. */
export function AccountField({ account, onAccount, ...texts }: AccountFieldProps) {
  const [text, setText] = useState(account);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setText(account), [account]);
  const { linkLengthMax } = useLimits();
  const suggestions = useSuggestions(text);
  const apply = (next: string) => {
    setText(next);
    if (next.trim() !== account) onAccount(next.trim());
  };
  // The button disappears, and the focus would be lost with it.
  const clear = () => {
    apply('');
    field.current?.focus();
  };
  return (
    <Autocomplete
      {...texts}
      ref={field}
      data={suggestions}
      value={text}
      maxLength={linkLengthMax}
      autoComplete="off"
      comboboxProps={{ shadow: 'md' }}
      leftSection={<IconBuildingStore size={18} aria-hidden />}
      rightSection={text !== '' && <CloseButton size="sm" aria-label="Clear account" onClick={clear} />}
      // The service has already filtered them by prefix.
      filter={({ options }) => options}
      onChange={setText}
      onOptionSubmit={apply}
      onBlur={() => apply(text)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply(text);
        if (event.key === 'Escape' && text !== '') apply('');
      }}
    />
  );
}

function useSuggestions(text: string): readonly string[] {
  const organization = useOrganization();
  const [prefix] = useDebouncedValue(text.trim(), 150);
  const { data } = useQuery({
    ...accountsOptions(organization.id, prefix),
    placeholderData: keepPreviousData,
  });
  return data?.accounts ?? [];
}
