import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const indigo: MantineColorsTuple = [
  '#eef2ff',
  '#e0e7ff',
  '#c7d2fe',
  '#a5b4fc',
  '#8b95fa',
  '#6366f1',
  '#4f46e5',
  '#4338ca',
  '#3730a3',
  '#312e81',
];

/** Grays with a hint of blue, which go with the accent color. */
const gray: MantineColorsTuple = [
  '#f8f9fb',
  '#f1f3f6',
  '#e6e9ee',
  '#d8dde4',
  '#c3cad4',
  '#9aa3b1',
  '#6f7988',
  '#4f5968',
  '#343c49',
  '#1f252f',
];

const dark: MantineColorsTuple = [
  '#d9dce3',
  '#b9bec9',
  '#9aa1af',
  '#747c8c',
  '#3b414d',
  '#2c313b',
  '#23272f',
  '#181b21',
  '#121419',
  '#0d0f13',
];

export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: 6,
  black: gray[9],
  colors: { indigo, gray, dark },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  components: {
    // A menu may contain only items, so the first item gets the focus.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, shadow: 'md' } },
    Modal: {
      defaultProps: { closeButtonProps: { 'aria-label': 'Close' } },
      styles: { title: { fontWeight: 650 } },
    },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    PasswordInput: {
      defaultProps: {
        visibilityToggleButtonProps: { 'aria-label': 'Show password' },
        visibilityToggleFocusable: true,
      },
    },
  },
  headings: {
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.5rem', lineHeight: '1.3' },
      h2: { fontSize: '1.15rem', lineHeight: '1.35' },
      h3: { fontSize: '1rem', lineHeight: '1.4' },
    },
  },
});

/**
 * Replaces Mantine's text colors whose contrast is below 4.5:1 (on white: dimmed text 3.3:1, placeholders 2.1:1, errors
 * 3.3:1).
 */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-text': gray[9],
    '--mantine-color-dimmed': '#5a6473',
    '--mantine-color-placeholder': '#667080',
    '--mantine-color-error': '#c92a2a',
    '--mantine-color-anchor': indigo[7],
    '--mantine-color-default-border': gray[3],
    '--mantine-color-red-filled': '#c92a2a',
    '--mantine-color-red-filled-hover': '#b02525',
    '--mantine-color-red-light': '#fff0f0',
    '--mantine-color-red-light-color': '#b02525',
    '--mantine-color-yellow-light': '#fff6dc',
    '--mantine-color-green-light-color': '#1d6b30',
    '--mantine-color-teal-light-color': '#07664b',
    '--mantine-color-yellow-light-color': '#7a4a00',
    '--mantine-color-orange-light-color': '#9a3f00',
    '--mantine-color-gray-light-color': gray[8],
    '--mantine-color-indigo-light-color': indigo[7],
    '--skein-focus': indigo[6],
    '--skein-sidebar': gray[0],
    '--skein-row-hover': gray[0],
    '--skein-cited': '#ffec99',
  },
  dark: {
    '--mantine-color-dimmed': dark[2],
    '--mantine-color-placeholder': '#8f97a6',
    '--mantine-color-error': '#ff8787',
    '--mantine-color-anchor': indigo[3],
    '--mantine-color-red-filled': '#c92a2a',
    '--mantine-color-red-filled-hover': '#b02525',
    '--mantine-color-red-light-color': '#ffa8a8',
    // Mantine's light variants are as strong as a filled button in the dark theme; these are subtler.
    '--mantine-color-red-light': 'rgb(250 82 82 / 14%)',
    '--mantine-color-yellow-light': 'rgb(250 176 5 / 13%)',
    '--mantine-color-orange-light': 'rgb(253 126 20 / 14%)',
    '--mantine-color-green-light': 'rgb(64 192 87 / 14%)',
    '--mantine-color-teal-light': 'rgb(18 184 134 / 14%)',
    '--mantine-color-gray-light': 'rgb(185 190 201 / 12%)',
    '--mantine-color-indigo-light': 'rgb(99 102 241 / 22%)',
    '--mantine-color-indigo-light-color': indigo[3],
    '--mantine-color-gray-light-color': dark[1],
    '--skein-focus': indigo[4],
    '--skein-sidebar': dark[8],
    '--skein-row-hover': dark[6],
    '--skein-cited': 'rgb(250 176 5 / 32%)',
  },
});
