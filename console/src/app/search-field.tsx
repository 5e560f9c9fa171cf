import { CloseButton, Kbd, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useRef } from 'react';
import { searchFieldId, useSingleKeys } from './shortcuts.ts';

interface SearchFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  /** Called for keys other than Esc. */
  readonly onKeyDown?: (event: KeyboardEvent<HTMLInputElement>) => void;
}

/** The field that `/` focuses, one per page. Esc clears it, and leaves it if it is empty. */
export function SearchField({ label, placeholder, text, onText, onKeyDown }: SearchFieldProps) {
  const [singleKeys] = useSingleKeys();
  const field = useRef<HTMLInputElement>(null);
  // The button disappears, and the focus would be lost with it.
  const clear = () => {
    onText('');
    field.current?.focus();
  };
  return (
    <TextInput
      ref={field}
      id={searchFieldId}
      type="text"
      role="searchbox"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={18} aria-hidden />}
      rightSection={
        text !== '' ? (
          <CloseButton size="sm" aria-label="Clear search" onClick={clear} />
        ) : (
          singleKeys && (
            <Kbd size="xs" visibleFrom="sm" aria-hidden>
              /
            </Kbd>
          )
        )
      }
      autoComplete="off"
      value={text}
      onChange={(event) => onText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') onKeyDown?.(event);
        else if (text === '') event.currentTarget.blur();
        else onText('');
      }}
    />
  );
}
