import type { AgentTool } from '../../src/index.ts'
import { editFileTool, listFilesTool, readFileTool, searchTool, writeFileTool } from '../../src/tools/index.ts'
import { type BashOptions, bashTool } from './bash/bash-tool.ts'
import { ripgrepSearcher } from './search/ripgrep.ts'
import { nodeWorkspace } from './workspace/node-workspace.ts'

/** Where the tools of `nodeTools` work, and how `bash` among them runs. */
export interface NodeToolsOptions {
  /** The directory all tools are confined to. */
  root: string
  /** How `bash` runs, or `false` to go without it. Default: in a sandbox, after approval. */
  bash?: Partial<BashOptions> | false
}

/**
 * The six built-in tools over one directory: `bash`, `read_file`, `write_file`, `edit_file`, `list_files`, `search`, in this order.
 *
 * `search` uses ripgrep where it is installed. Throws what `nodeWorkspace` and `bashTool` throw: without bubblewrap `SandboxUnavailable`,
 * unless `bash` is `false` or says `sandbox: 'none'`. Source: spec/22.
 */
export function nodeTools({ root, bash = {} }: NodeToolsOptions): AgentTool[] {
  const workspace = nodeWorkspace(root)
  const searcher = ripgrepSearcher(root)
  return [
    ...(bash === false ? [] : [bashTool({ root, ...bash })]),
    readFileTool({ workspace }),
    writeFileTool({ workspace }),
    editFileTool({ workspace }),
    listFilesTool({ workspace }),
    searchTool(searcher === undefined ? { workspace } : { workspace, searcher }),
  ]
}
