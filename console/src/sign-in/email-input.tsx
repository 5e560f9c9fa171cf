import { TextInput } from '@mantine/core';

/** The address that a person signs in with: the first field of its form, filled in by password managers. */
export function EmailInput() {
  return (
    <TextInput
      name="email"
      type="email"
      label="Email"
      autoComplete="username"
      required
      withAsterisk={false}
      autoFocus
    />
  );
}
