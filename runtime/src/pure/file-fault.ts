const fileFaults: Readonly<Record<string, string>> = {
  ENOENT: 'file not found',
  ENOTDIR: 'file not found',
  EACCES: 'permission denied',
  EISDIR: 'is a folder',
};

/** Why a file cannot be opened, by the code of the system's error. Worded to follow the file's name. */
export function describeFileFault(code: string | undefined): string {
  return fileFaults[code ?? ''] ?? 'cannot be read';
}
