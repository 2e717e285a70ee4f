import type { Workspace } from './workspace.ts'

/** Where long results of tools go, in place of the history. */
export interface OffloadOptions {
  /** Characters of text from which on a result is written to a file. */
  over: number
  /** Where the file is written; the model reads it with its `read_file`. */
  workspace: Workspace
  /** Tools whose results stay: what reads the files must not be written to files. Default `['read_file', 'search']`. */
  except?: readonly string[]
}
