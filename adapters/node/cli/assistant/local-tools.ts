import { type AgentTool, ConfigError } from '../../../../src/index.ts'
import { type NodeToolsOptions, nodeTools, SandboxUnavailable } from '../../index.ts'

/** What tools there are, and what is not there and why. */
export interface LocalTools {
  tools: AgentTool[]
  /** Sentences for the person. */
  notes: string[]
}

/** The six tools over `root`; all but `bash` where it cannot be had, and none where tools may not work at all. Commands ask first, always. */
export function localTools(root: string, hasSandbox: boolean): LocalTools {
  if (!hasSandbox) return withBash(root, { sandbox: 'none' }, ['Commands run without a sandbox, with all your rights.'])
  return withBash(root, {}, [])
}

function withBash(root: string, bash: NodeToolsOptions['bash'], notes: string[]): LocalTools {
  try {
    return { tools: nodeTools({ root, ...(bash !== undefined && { bash }) }), notes }
  } catch (error) {
    if (SandboxUnavailable.isInstance(error)) {
      const why = error.message.replace(/, or run commands.*/s, '.')
      return withoutBash(root, `${why}\nGoing on without bash. With --no-sandbox commands run with all your rights, after you were asked.`)
    }
    if (ConfigError.isInstance(error)) return withoutBash(root, `Going on without bash: ${error.message}`)
    throw error
  }
}

function withoutBash(root: string, note: string): LocalTools {
  try {
    return { tools: nodeTools({ root, bash: false }), notes: [note] }
  } catch (error) {
    if (ConfigError.isInstance(error)) return { tools: [], notes: [`Going on without tools: ${error.message}`] }
    throw error
  }
}
