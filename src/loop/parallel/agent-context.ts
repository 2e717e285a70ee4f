import { newId } from '../../contract/message/identity.ts'
import { now } from '../../contract/message/message.ts'
import type { AgentSnapshot } from '../../contract/session/snapshot.ts'
import { type SkillSet, withSkills } from '../../types/tool/skills.ts'
import type { AgentContext } from '../loop-config.ts'

/** Converts a snapshot from `agent.checkpoint()` to a context for `parallelLoop`. Pass tools and skills separately. */
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

/** Converts a context, such as `selectedContext`, to a snapshot for `agent.restore`. The agent keeps its settings. */
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
