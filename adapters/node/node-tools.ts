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

/** Options for `nodeTools`: root directory, protection and `bash` settings. */
export interface NodeToolsOptions extends ProtectionOptions {
  /** The directory that confines all tools. */
  root: string
  /** Settings for `bash`, or `false` to omit the tool. Default: sandboxed, with approval. */
  bash?: Partial<Omit<BashOptions, 'root' | 'programs' | keyof ProtectionOptions>> | false
  /** Absolute paths of host programs that replace the system defaults. */
  programs?: HostPrograms
}

const { root: _root, programs: _programs, unprotected: _names, allowSystemRoot: _any, ...ofBash } = bashTable
/** The option table for `nodeTools`. */
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
 * Creates the six built-in tools for one directory: `bash`, `read_file`, `write_file`, `edit_file`, `list_files`, `search`, in this order.
 *
 * - `search` uses ripgrep if it is installed.
 * - `bash` and the file tools share one policy of protected names.
 * - Throws the same errors as `nodeWorkspace` and `bashTool`, such as `SandboxUnavailable` without bubblewrap, unless `bash` is `false` or
 *   has `sandbox: 'none'`.
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
