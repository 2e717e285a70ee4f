import type { AgentRun } from '../../../../src/index.ts'

/** Resolves once with whether what began `run` is in the conversation. False: it was refused, or the run ended before, and it is still unsaid. */
export function taken(run: AgentRun): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = run.subscribe((event) => {
      const isAnswering = event.type === 'messageStart' && event.message.role === 'assistant'
      if (event.type === 'messageEnd' || isAnswering) resolve(true)
    })
    void run.result.then(({ returned, status }) => {
      stop()
      resolve(returned.length === 0 && status !== 'error' && status !== 'rejected')
    })
  })
}
