/**
 * What the file driver needs of a file system, one call each, so that the same driver also runs on a simulated disk that loses what was not
 * synced.
 *
 * **Contract**
 * - Paths are absolute. Failures reject with the system's error: its `code` is `ENOENT` for what is not there, `EEXIST` for what is.
 * - Nothing is durable before `sync` (what is in a file) and `syncDirectory` (which names a directory holds) have resolved.
 */
export interface FileOperations {
  /** Creates an empty file that only its owner may read; of several that try, exactly one succeeds and the others get `EEXIST`. */
  createExclusive(path: string): Promise<void>
  /** Adds to the end of a file that is there. A crash may leave any part of `text`. */
  append(path: string, text: string): Promise<void>
  sync(path: string): Promise<void>
  syncDirectory(path: string): Promise<void>
  /** The file as text, from byte `from` on; bytes that are not UTF-8 become U+FFFD. With `bytes` only so many, or more. */
  read(path: string, part?: { from?: number; bytes?: number }): Promise<string>
  /** The names in a directory, in any order. */
  list(directory: string): Promise<string[]>
  /** Replaces `to` at once: whoever looks sees the one or the other. */
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  /** Makes a directory that only its owner may enter. */
  makeDirectory(path: string): Promise<void>
  /** When a file or directory was last written, in epoch ms, and how many bytes it has. */
  stat(path: string): Promise<{ modified: number; size: number }>
  /** Gives back what is held for `path` between appends. */
  close?(path: string): Promise<void>
}
