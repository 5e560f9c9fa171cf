/** A digit is the section of a manual page, such as `ls.1`: such documents are no longer read, but may still be searched. */
const ending = /\.(?:[a-z]+|\d)$/i;

/** The ending of a file's name in lower case, with its dot. Empty if it has none. */
export function readEnding(name: string): string {
  return ending.exec(name)?.[0].toLowerCase() ?? '';
}

/** The name of a file without its folders and its ending. */
export function bareName(name: string): string {
  const file = name.split(/[/\\]/).at(-1) ?? name;
  return file.replace(ending, '') || file;
}
