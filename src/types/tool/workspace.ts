/** Metadata of a file or directory, without its content. */
export interface WorkspaceStat {
  kind: 'file' | 'directory'
  /** Size in bytes, or 0 for directories. */
  size: number
  /** Opaque version for `ifMatch`. Changes whenever the content changes. */
  version: string
}

/** One entry of a listing: `path` is relative to the workspace root, with forward slashes. */
export interface WorkspaceEntry {
  path: string
  kind: 'file' | 'directory'
}

/**
 * Gives access to files under one root directory.
 *
 * **Contract**
 * - Paths are relative to the root, with forward slashes. `.` is the root. A path that leaves the root, through `..`, an absolute path or a
 *   link, rejects with `WorkspaceError` code `outside`, without any effect.
 * - Methods reject with `notFound` for missing files, `wrongKind` for a directory instead of a file or the reverse, and `conflict` for a
 *   failed `ifMatch`. Other failures have code `io`.
 * - If `signal` aborts, every method stops and rejects with the signal's reason.
 *
 * Source: docs/guides/files-and-bash.md
 */
export interface Workspace {
  /** Display path of the root. */
  readonly root: string
  /** Reads bytes `start` (inclusive) to `end` (exclusive). Default: the whole file. */
  read(path: string, options?: { start?: number; end?: number; signal?: AbortSignal }): Promise<Uint8Array>
  /** Writes a whole file, creating parent directories. `ifMatch` is a `version`, or `null` for "must not exist". */
  write(path: string, data: Uint8Array, options?: { ifMatch?: string | null; signal?: AbortSignal }): Promise<WorkspaceStat>
  stat(path: string, options?: { signal?: AbortSignal }): Promise<WorkspaceStat>
  /**
   * Returns a directory's direct children, sorted by path. `linkedDirectories` includes links to directories, even outside the root,
   * although other methods reject those paths. Do not use it recursively, because links may form cycles. Workspaces without links ignore
   * it.
   */
  list(path: string, options?: { signal?: AbortSignal; linkedDirectories?: boolean }): Promise<WorkspaceEntry[]>
  /** Removes a file, or a directory and its contents. */
  remove(path: string, options?: { signal?: AbortSignal }): Promise<void>
}

/** Settings for storing long tool results in files instead of the history. */
export interface OffloadOptions {
  /** Maximum characters of a result's text in the history. Longer results are written to a file. */
  over: number
  /** Workspace that stores the files. The model reads them with `read_file`. */
  workspace: Workspace
  /** Tools whose results always stay in the history, such as tools that read these files. Default: `['read_file', 'search']`. */
  except?: readonly string[]
}
