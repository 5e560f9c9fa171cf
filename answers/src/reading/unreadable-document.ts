/** A file that cannot be read. The message says why, in words that continue a sentence which starts with the file's name. */
export class UnreadableDocument extends Error {}
