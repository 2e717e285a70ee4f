import { checkOptions } from '../../src/contract/shape/read.ts'
import { either, kind, type OptionTable, options as optionsOf } from '../../src/contract/shape/shape.ts'
import type { AgentTool } from '../../src/index.ts'
import { editFileTool, listFilesTool, readFileTool, searchTool, writeFileTool } from '../../src/tools.ts'
import { type BashOptions, bashTable } from './bash/bash-settings.ts'
import { bashTool } from './bash/bash-tool.ts'
import type { HostPrograms } from './policy/programs.ts'
import { type ProtectionOptions, protectionTable } from './policy/workspace-policy.ts'
import { ripgrepSearcher } from './search/ripgrep.ts'
import { nodeWorkspace } from './workspace/node-workspace.ts'

/** Where the tools of `nodeTools` work, what they may change, and how `bash` among them runs. */
export interface NodeToolsOptions extends ProtectionOptions {
  /** The directory all tools are confined to. */
  root: string
  /** How `bash` runs, or `false` to go without it. Default: in a sandbox, after approval. */
  bash?: Partial<Omit<BashOptions, 'root' | 'programs' | keyof ProtectionOptions>> | false
  /** Programs of the host to use in place of the system's own. */
  programs?: HostPrograms
}

const { root: _root, programs: _programs, unprotected: _names, allowSystemRoot: _any, ...ofBash } = bashTable
/** What `nodeTools` may be told. */
export const nodeToolTable: OptionTable<NodeToolsOptions> = {
  ...protectionTable,
  root: bashTable.root,
  programs: bashTable.programs,
  bash: either(
    kind('false', (value) => value === false),
    optionsOf(ofBash),
  ),
}
const nodeToolOptions = optionsOf<NodeToolsOptions>(nodeToolTable)

/**
 * The six built-in tools over one directory: `bash`, `read_file`, `write_file`, `edit_file`, `list_files`, `search`, in this order.
 *
 * `search` uses ripgrep where it is installed. One policy of protected names holds for `bash` and the file tools. Throws what `nodeWorkspace`
 * and `bashTool` throw: without bubblewrap `SandboxUnavailable`, unless `bash` is `false` or says `sandbox: 'none'`.
 */
export function nodeTools(options: NodeToolsOptions): AgentTool[] {
  checkOptions(options, nodeToolOptions)
  const { root, bash = {}, programs = {}, ...protection } = options
  const { allowSystemRoot } = protection
  const workspace = nodeWorkspace(root, protection)
  const searcher = ripgrepSearcher(root, { ...(allowSystemRoot !== undefined && { allowSystemRoot }), programs })
  return [
    ...(bash === false ? [] : [bashTool({ ...bash, ...protection, root, programs })]),
    readFileTool({ workspace }),
    writeFileTool({ workspace }),
    editFileTool({ workspace }),
    listFilesTool({ workspace }),
    searchTool(searcher === undefined ? { workspace } : { workspace, searcher }),
  ]
}
