import { type Agent, AgentBusyError, ConfigError, PhiError, type RunResult } from 'phi-core'

/** Failures of the model, the tools or the run are in the result; only misuse throws. */
export async function safePrompt(agent: Agent, prompt: string): Promise<string> {
  try {
    const result = await agent.prompt(prompt).result
    return describe(result)
  } catch (error) {
    if (error instanceof AgentBusyError) return 'Still working on the last question.'
    if (error instanceof ConfigError && error.code === 'emptyPrompt') return 'Please type something.'
    if (PhiError.isInstance(error)) return `${error.message} [${error.code}]`
    throw error
  }
}

function describe({ status, text, error }: RunResult): string {
  if (status === 'completed') return text
  if (status === 'error') return `${error?.message} [${error?.code}]`
  return `Stopped: ${status}.` // aborted, limit, paused, rejected
}
