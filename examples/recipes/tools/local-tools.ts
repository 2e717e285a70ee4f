import type { AgentTool } from 'phi-core'
import { nodeTools, SandboxUnavailable } from 'phi-core/node'

/** Creates the six built-in tools for a directory, or five without bash if there is no sandbox. */
export function localTools(root: string, warn: (text: string) => void): AgentTool[] {
  try {
    return nodeTools({ root })
  } catch (error) {
    if (!(error instanceof SandboxUnavailable)) throw error
    warn(error.message) // names the package to install
    return nodeTools({ root, bash: false })
  }
}
