import type { AgentTool } from 'phi-core'
import { nodeTools, SandboxUnavailable } from 'phi-core/node'

/** The six built-in tools on a directory; where no sandbox can be had, the five without bash. */
export function localTools(root: string, warn: (text: string) => void): AgentTool[] {
  try {
    return nodeTools({ root })
  } catch (error) {
    if (!(error instanceof SandboxUnavailable)) throw error
    warn(error.message) // names the package to install
    return nodeTools({ root, bash: false })
  }
}
