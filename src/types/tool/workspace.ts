/** What a workspace knows about a file or directory without reading it. */
export interface WorkspaceStat {
  kind: 'file' | 'directory'
  /** Bytes; 0 for directories. */
  size: number
  /** Opaque version for `ifMatch`; changes whenever the content does. */
  version: string
}

/** One entry of a listing: `path` is relative to the workspace root, with forward slashes. */
export interface WorkspaceEntry {
  path: string
  kind: 'file' | 'directory'
}

/**
 * Files under one root.
 *
 * **Contract**
 * - Paths are relative to the root, with forward slashes; `.` is the root. A path that leaves the root, through `..`, an absolute path or
 *   a link, rejects with `WorkspaceError` code `outside`, and nothing is touched.
 * - Missing files reject with `notFound`; a directory where a file is meant (or the reverse) with `wrongKind`; a failed `ifMatch` with
 *   `conflict`. Other failures are code `io`.
 * - Every method stops and rejects with the signal's reason when `signal` aborts.
 *
 * Source: docs/guides/files-and-bash.md
 */
export interface Workspace {
  /** Where the root is, for people. */
  readonly root: string
  /** Reads bytes `start` (inclusive) to `end` (exclusive); both default to the whole file. */
  read(path: string, options?: { start?: number; end?: number; signal?: AbortSignal }): Promise<Uint8Array>
  /** Writes a whole file, creating parent directories. `ifMatch` is a `version`, or `null` for "must not exist". */
  write(path: string, data: Uint8Array, options?: { ifMatch?: string | null; signal?: AbortSignal }): Promise<WorkspaceStat>
  stat(path: string, options?: { signal?: AbortSignal }): Promise<WorkspaceStat>
  /**
   * Direct children of a directory, sorted by path. `linkedDirectories` adds links to directories, also to those out of the root, which the
   * other methods refuse. It is for lists of one level: a walk through links may never end. A workspace without links ignores it.
   */
  list(path: string, options?: { signal?: AbortSignal; linkedDirectories?: boolean }): Promise<WorkspaceEntry[]>
  /** Removes a file, or a directory with everything in it. */
  remove(path: string, options?: { signal?: AbortSignal }): Promise<void>
}

/** Where long results of tools go, in place of the history. */
export interface OffloadOptions {
  /** Characters of text from which on a result is written to a file. */
  over: number
  /** Where the file is written; the model reads it with its `read_file`. */
  workspace: Workspace
  /** Tools whose results stay: what reads the files must not be written to files. Default `['read_file', 'search']`. */
  except?: readonly string[]
}
