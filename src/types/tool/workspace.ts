/** Metadata of a file or directory, without its content. */
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
 * Access to files under one root.
 *
 * **Contract**
 * - Paths are relative to the root, with forward slashes; `.` is the root. A path that leaves the root, through `..`, an absolute path or a
 *   link, rejects with `WorkspaceError` code `outside`, without any effect.
 * - Missing files reject with `notFound`; a directory instead of a file (or the reverse) with `wrongKind`; a failed `ifMatch` with
 *   `conflict`. Other failures have code `io`.
 * - Every method stops and rejects with the signal's reason if `signal` aborts.
 *
 * Source: docs/guides/files-and-bash.md
 */
export interface Workspace {
  /** Display path of the root. */
  readonly root: string
  /** Reads bytes `start` (inclusive) to `end` (exclusive); both default to the whole file. */
  read(path: string, options?: { start?: number; end?: number; signal?: AbortSignal }): Promise<Uint8Array>
  /** Writes a whole file, creating parent directories. `ifMatch` is a `version`, or `null` for "must not exist". */
  write(path: string, data: Uint8Array, options?: { ifMatch?: string | null; signal?: AbortSignal }): Promise<WorkspaceStat>
  stat(path: string, options?: { signal?: AbortSignal }): Promise<WorkspaceStat>
  /**
   * Returns the direct children of a directory, sorted by path. `linkedDirectories` includes links to directories, also outside the root,
   * which the other methods reject. Use it for single levels only: following links may never end. Workspaces without links ignore it.
   */
  list(path: string, options?: { signal?: AbortSignal; linkedDirectories?: boolean }): Promise<WorkspaceEntry[]>
  /** Removes a file, or a directory with everything in it. */
  remove(path: string, options?: { signal?: AbortSignal }): Promise<void>
}

/** Writes long tool results to files, instead of the history. */
export interface OffloadOptions {
  /** Characters of text above which a result is written to a file. */
  over: number
  /** Workspace for the files; the model reads them with its `read_file`. */
  workspace: Workspace
  /** Tools whose results stay in the history, such as those that read the files. Default: `['read_file', 'search']`. */
  except?: readonly string[]
}
