import { newId } from '../../contract/message/identity.ts'
import { now } from '../../contract/message/message.ts'
import type { AgentSnapshot } from '../../contract/session/snapshot.ts'
import { type SkillSet, withSkills } from '../../types/tool/skills.ts'
import type { AgentContext } from '../loop-config.ts'

/** The conversation of `agent.checkpoint()` as a context for `parallelLoop`; its tools and skills are given beside it. */
export function contextOf(snapshot: AgentSnapshot, tools: AgentContext['tools'] = [], skills?: SkillSet): AgentContext {
  const { agentId, sessionId, lastLoopId, loopCounts, messages, state, settings } = structuredClone(snapshot)
  return {
    systemPrompt: withSkills(settings?.systemPrompt ?? '', skills),
    messages,
    tools,
    state,
    agentId,
    sessionId,
    loopCounts,
    ...(lastLoopId !== undefined && { lastLoopId }),
  }
}

/** The conversation of a context, such as `selectedContext`, for `agent.restore`; the settings of the agent stay. */
export function snapshotOfContext({ messages, state = {}, agentId, sessionId, lastLoopId, loopCounts = {} }: AgentContext): AgentSnapshot {
  return structuredClone({
    version: 1,
    createdAt: now(),
    agentId: agentId ?? newId(),
    sessionId: sessionId ?? newId(),
    loopCounts,
    messages,
    state,
    ...(lastLoopId !== undefined && { lastLoopId }),
  })
}
