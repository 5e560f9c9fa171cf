interface Fault {
  readonly code?: string | undefined;
  readonly message: string;
}

const noPermission = 'give this user read and write permission on the file and its folder';
const noSpace = 'free up disk space';
const failing = 'the disk is failing: move the store to another disk, or restore a backup';

/** What to do, by the error code of Node.js, SQLite or PostgreSQL. */
const remedies: Readonly<Record<string, string>> = {
  ENOSPC: noSpace,
  SQLITE_FULL: noSpace,
  '53100': noSpace,
  EDQUOT: "free up space within this user's quota",
  EROFS: 'mount the disk for writing; if the system made it read-only, it may be failing',
  EACCES: noPermission,
  EPERM: noPermission,
  SQLITE_READONLY: noPermission,
  SQLITE_CANTOPEN: noPermission,
  ENOENT: 'correct the path',
  EIO: failing,
  // SQLite also reports this if the disk has no room for the index of the journal.
  SQLITE_IOERR: "the disk is full or failing: see 'skein doctor'",
  SQLITE_CORRUPT: 'restore a backup',
  SQLITE_NOTADB: 'choose another file or, if it was a store, restore a backup',
  SQLITE_BUSY: 'another process keeps it locked: stop that process',
  ECONNREFUSED: 'start PostgreSQL, or correct the host and port',
  ENOTFOUND: 'correct the host',
  '28P01': 'correct the user or the password',
  '3D000': 'create the database, or correct its name',
  '25006': 'use the address of the primary, or allow writes',
  '42501': 'let this user create and change tables, or use another user',
};

/** Why a store or a file next to it cannot be used, and what the operator can do about it. */
export function explainFault({ code = '', message }: Fault): string {
  // SQLite adds details to its codes, as in SQLITE_IOERR_WRITE.
  const remedy = remedies[/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code];
  return [message || code, remedy].filter((part) => part !== undefined).join(': ');
}
