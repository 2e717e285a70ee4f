import { Agent } from 'phi-core'
import { type AgentProfile, agentPrompt, applyProfile, composeSystemPrompt } from 'phi-core/agents'
import { scripted } from 'phi-core/testing'
import { memoryWorkspace } from 'phi-core/tools'

export async function profiled(write: (line: string) => void): Promise<void> {
  const workspace = memoryWorkspace({ 'review.md': 'Say what breaks, and how to reproduce it.' })
  const systemPrompt = await composeSystemPrompt(
    agentPrompt,
    { identity: 'You review code.', instructions: 'file:review.md', constraints: 'Never rewrite the code.' },
    { workspace },
  )
  const reviewer: AgentProfile = { name: 'Reviewer', systemPrompt, thinking: 'high', temperature: 0, configId: 'reviewer' }

  // A scripted model needs no network.
  const model = scripted([{ text: 'Nothing breaks.' }])
  const agent = new Agent(applyProfile(reviewer, { model, thinking: 'low', sessionId: 's1' })) // These options override the profile.
  const run = agent.prompt('Review this.')
  await run.result
  write(model.provider.requests[0]?.systemPrompt ?? '')
  write(`${run.loopId}, thinking ${agent.settings.thinking}, temperature ${agent.settings.temperature}`)

  const session = agent.newSession()
  write(
    `new session: ${session !== 's1'}, messages: ${agent.messages.length}, rotated: ${agent.newSession({ afterIdleMs: 3_600_000 }) !== session}`,
  )
}
